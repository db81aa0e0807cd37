"""The whole record of an account, for an authority or an appeal."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from agents.services import freeze_agent
from kernel.jobs.queue import run_due
from kernel.personal_data import Subject
from messaging.models import Account, AccountRecord, AccountRecordPart
from messaging.models.personal_data import EXPORT_LIFETIME
from messaging.moderation.services import hide_message
from messaging.privacy import erasers, exports
from messaging.privacy.archive import write_archive
from messaging.privacy.exports import exports_of
from tests.admin.pages import page
from tests.agents.factories import agent_with_token
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PATH = "/admin/record/"


@pytest.mark.parametrize("kind", ["person", "agent"])
def test_the_record_has_all_posts_and_the_history_says_who_took_it(admin_client: Client, kind: str) -> None:
    account = PersonFactory() if kind == "person" else agent_with_token().account
    MessageFactory(author=account, content="Mine.")
    MessageFactory(author=account, content="Mine, hidden.", status="hidden")
    MessageFactory(content="Another's.")
    response = admin_client.post(PATH, {"account": f"@{account.handle}", "reason": "A court asks."})
    assert sorted(post["content"] for post in files_in(response)["posts"]) == ["Mine, hidden.", "Mine."]
    assert f"record-{account.handle}-" in response.headers["Content-Disposition"]
    entry = LogEntry.objects.latest("pk")
    assert (entry.object_id, entry.change_message) == (str(account.pk), "Record exported: A court asks.")


def files_in(response: Any) -> dict[str, Any]:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
    names = [name for name in archive.namelist() if name.endswith(".json")]
    return {name.removeprefix("export/").removesuffix(".json"): json.loads(archive.read(name)) for name in names}


def test_the_record_of_an_agent_has_its_grant_tokens_and_refused_calls(admin_client: Client, boss: Account) -> None:
    holder = agent_with_token()
    other = agent_with_token()
    freeze_agent(agent=holder.agent, by=boss, reason="Too loud.")
    assert holder.api.post("/api/messages", {}).status == 401
    post = MessageFactory(author=holder.account)
    hide_message(message_id=post.pk, by=boss, reason="Spam.")
    response = admin_client.post(PATH, {"account": holder.account.handle, "reason": "An appeal."})
    files = files_in(response)
    agent = files["agents"][0]
    assert (agent["handle"], agent["operator"]) == (holder.account.handle, holder.request.requester.handle)
    assert agent["freeze_reason"] == "Too loud."
    assert [token["id"] for token in files["agent_tokens"]] == [str(holder.token.pk)]
    assert [request["id"] for request in files["agent_requests"]] == [str(holder.request.pk)]
    assert [(row["decision"], row["by"]) for row in files["history"]] == [
        ("Frozen (active → frozen): Too loud.", boss.handle),
        ("Hidden (published → hidden): Spam.", boss.handle),
    ]
    assert other.account.handle not in json.dumps(files)
    assert len(files["agents"]) == 1


def test_the_history_is_not_in_an_export_of_the_person() -> None:
    file = io.BytesIO()
    write_archive(file, account_id=PersonFactory().pk)
    assert "export/history.json" not in zipfile.ZipFile(file).namelist()


def test_no_record_without_an_account_a_reason_and_a_super_admin(admin_client: Client, client: Client) -> None:
    before, person = LogEntry.objects.count(), PersonFactory()
    for sent in ({"account": "nobody_here", "reason": "x"}, {"account": "x" * 99, "reason": "x"}, {}):
        response = admin_client.post(PATH, sent)
        assert (response.status_code, "errorlist" in response.content.decode()) == (200, True)
    client.force_login(person)
    assert client.post(PATH, {"account": person.handle, "reason": "Curious."}).status_code == 403
    assert LogEntry.objects.count() == before


def test_the_page_of_an_account_leads_there(admin_client: Client) -> None:
    person = PersonFactory()
    link = f"{PATH}?account={person.handle}"
    assert link in admin_client.get(page(person)).content.decode()
    assert f'value="{person.handle}"' in admin_client.get(link).content.decode()


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Account:
    """A person whose record is too large for one request."""
    monkeypatch.setattr("messaging.privacy.exports.AT_ONCE_MAX", 1)
    person: Account = PersonFactory()
    post = MessageFactory(author=person, content="Mine.")
    hide_message(message_id=post.pk, by=SuperAdminFactory(), reason="Spam.")
    return person


def test_a_large_record_is_made_in_the_background_for_who_has_asked_for_it(
    admin_client: Client, boss: Account, large: Account
) -> None:
    for _ in range(2):
        answer = admin_client.post(PATH, {"account": large.handle, "reason": "A court asks."})
        assert answer["Location"] == PATH
    record = AccountRecord.objects.get()
    entry = LogEntry.objects.latest("pk")
    assert (entry.user, entry.object_id, entry.change_message) == (
        boss,
        str(large.pk),
        "Record exported: A court asks.",
    )
    download = f"{PATH}{record.pk}/"
    assert admin_client.get(download).status_code == 404
    assert "0 %" in admin_client.get(PATH).content.decode()
    assert run_due("records") == 1
    assert download in admin_client.get(PATH).content.decode()
    response = admin_client.get(download)
    assert response.headers["Content-Disposition"].startswith(f'attachment; filename="record-{large.handle}-')
    files = files_in(response)
    assert [post["content"] for post in files["posts"]] == ["Mine."]
    assert files["history"][0]["decision"] == "Hidden (published → hidden): Spam."
    assert int(response.headers["Content-Length"]) == record_size(record)


def record_size(record: AccountRecord) -> int:
    return sum(len(part.data) for part in record.parts.all())


def test_nobody_else_sees_or_downloads_a_large_record(admin_client: Client, large: Account) -> None:
    admin_client.post(PATH, {"account": large.handle, "reason": "A court asks."})
    run_due("records")
    record = AccountRecord.objects.get()
    for account, status in ((SuperAdminFactory(), 404), (large, 403)):
        client = Client()
        client.force_login(account)
        assert client.get(f"{PATH}{record.pk}/").status_code == status
    other = Client()
    other.force_login(SuperAdminFactory())
    assert large.handle not in other.get(PATH).content.decode()
    assert exports_of(person=large) == []


def test_a_large_record_is_deleted_after_seven_days_and_with_its_account(
    admin_client: Client, boss: Account, large: Account
) -> None:
    admin_client.post(PATH, {"account": large.handle, "reason": "A court asks."})
    run_due("records")
    later = timezone.now() + EXPORT_LIFETIME + timedelta(seconds=5)
    assert [exports.prune_records(now=at, dry_run=True)["records of accounts"] for at in (timezone.now(), later)] == [
        0,
        1,
    ]
    exports.prune_records(now=later, dry_run=False)
    assert not AccountRecordPart.objects.exists()
    admin_client.post(PATH, {"account": large.handle, "reason": "Again."})
    run_due("records")
    subject = Subject(account_ids=[large.pk], handles=[large.handle], heirs={}, delete_posts=False)
    assert [erasers.exports(subject) for _ in range(2)] == [1, 0]
    assert not AccountRecordPart.objects.exists()
