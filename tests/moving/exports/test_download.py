"""The export on the page of a community: who gets it, what is in it, and what a client that goes away leaves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from messaging.communities.services import create_community
from messaging.models import Account, Community
from moving.exceptions import ExportBusy
from moving.exports import files
from moving.exports.files import Download
from moving.exports.reading import of_community, open_snapshot
from tests.embeds.making import an_embed
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory
from tests.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)
OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle in transaction'
"""


@pytest.fixture
def owner() -> Account:
    return PersonFactory()


@pytest.fixture
def community(owner: Account) -> Community:
    return create_community(owner=owner, name="Lantern")


def get(account: Account, community: Community, **query: str) -> Any:
    client = Client()
    client.force_login(account)
    return client.get(f"/account/communities/{community.slug}/moderation/export/", query)


def body(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode()


def open_exports() -> int:
    with connection.cursor() as cursor:
        cursor.execute(OTHERS)
        (number,) = cursor.fetchone()
    return int(number)


def test_a_moderator_downloads_the_posts_of_the_community_alone(owner: Account, community: Community) -> None:
    MessageFactory(community=community, content="here")
    MessageFactory(content="elsewhere")
    answer = get(owner, community, format="jsonl")
    assert answer["Content-Type"].startswith("application/jsonl")
    assert answer["Content-Disposition"].startswith(f'attachment; filename="{community.slug}-')
    assert answer["Cache-Control"] == "private, no-store"
    lines = [json.loads(line) for line in body(answer).splitlines()]
    assert [line["content"] for line in lines if line["type"] == "post"] == ["here"]
    assert lines[-1]["type"] == "end"


def test_pending_posts_are_in_the_file_on_request(owner: Account, community: Community) -> None:
    MessageFactory(community=community, content="waiting", status="pending")
    assert "waiting" not in body(get(owner, community, format="jsonl"))
    assert "waiting" in body(get(owner, community, format="jsonl", pending="1"))


def test_only_moderators_and_super_admins_download(community: Community) -> None:
    assert get(PersonFactory(), community, format="jsonl").status_code == 404
    answer = get(SuperAdminFactory(), community, format="jsonl")
    assert answer.status_code == 200
    body(answer)


def test_the_page_offers_each_format_as_a_file(owner: Account, community: Community) -> None:
    MessageFactory(community=community, content="in the file")
    page = get(owner, community).content.decode()
    for name in ("jsonl", "disqus", "csv"):
        assert f'value="{name}"' in page
        assert "in the file" in body(get(owner, community, format=name))
    assert get(owner, community, format="unknown").status_code == 404


def test_the_settings_of_a_site_lead_moderators_of_its_community_to_the_export(community: Community) -> None:
    for site, is_offered in ((an_embed(community.created_by, community_id=community.pk), True), (an_embed(), False)):
        client = Client()
        client.force_login(site.owner)
        page = client.get(f"/account/sites/{site.pk}/settings/").content.decode()
        assert (f"/account/communities/{site.community.slug}/moderation/export/" in page) == is_offered


def test_a_client_that_goes_away_leaves_no_transaction(owner: Account, community: Community) -> None:
    MessageFactory.create_batch(3, community=community)
    answer = get(owner, community, format="jsonl")
    assert open_exports() == 1
    answer.close()
    assert eventually(lambda: open_exports() == 0)


def test_a_person_downloads_one_export_at_a_time(owner: Account, community: Community) -> None:
    first = Download(of_community(community), "jsonl", account_id=owner.pk)
    answer = get(owner, community, format="jsonl")
    assert answer.status_code == 429
    assert "Try again in a minute" in answer.content.decode()
    first.close()
    answer = get(owner, community, format="jsonl")
    assert answer.status_code == 200
    answer.close()


def test_the_service_sends_few_exports_at_a_time(owner: Account, community: Community) -> None:
    scope = of_community(community)
    others = [Download(scope, "jsonl", account_id=PersonFactory().pk) for _number in range(files.DOWNLOADS_MAX)]
    with pytest.raises(ExportBusy):
        Download(scope, "jsonl", account_id=owner.pk)
    for other in others:
        other.close()


def test_a_download_that_takes_too_long_is_cut_off(
    owner: Account, community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    MessageFactory.create_batch(20, community=community, content="x" * 20_000)
    monkeypatch.setattr(files, "SECONDS_MAX", 0)
    text = body(get(owner, community, format="jsonl"))
    assert '"type":"end"' not in text
    assert eventually(lambda: open_exports() == 0)


def test_a_post_that_is_written_meanwhile_is_not_in_the_file(owner: Account, community: Community) -> None:
    MessageFactory.create_batch(20, community=community, content="x" * 20_000)
    download = Download(of_community(community), "jsonl", account_id=owner.pk)
    MessageFactory(community=community, content="too late")
    assert b"too late" not in b"".join(download)


@pytest.mark.parametrize("seconds", [60, 0])
def test_a_statement_of_an_export_may_take_longer_than_one_of_a_request(
    seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict, "ANSWER_SECONDS", 0.1)
    with open_snapshot(statement_seconds=seconds, idle_seconds=60) as snapshot:
        assert snapshot.all("SELECT 1 FROM pg_sleep(0.3)", []) == [(1,)]


def test_an_export_does_not_wait_for_a_server_that_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moving.exports.reading.MARGIN_SECONDS", -4.5)
    unanswered = pytest.raises(OperationalError, match=r"has not answered for 0\.5 s")
    with open_snapshot(statement_seconds=5, idle_seconds=60) as snapshot, unanswered:
        snapshot.all("SELECT pg_sleep(60)", [])
