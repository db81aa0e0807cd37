"""Optimistic locking in the admin: a form opened before another user's change does not overwrite that change."""

from __future__ import annotations

import re
from html import unescape
from threading import Barrier, Thread
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from messaging.models import Community
from tests.admin.pages import page, read
from tests.factories import CommunityFactory, SuperAdminFactory

CONFLICT = "changed by another user after you opened the form"


@pytest.fixture
def community(db: None) -> Community:
    return CommunityFactory(name="Harbour", slug="harbour", blocked_words=["casino"], allowed_tag_types=["claim"])


def opened_in(text: str) -> str:
    match = re.search(r'<input type="hidden" name="opened" value="([^"]+)"', text)
    assert match
    return unescape(match[1])


def opened(admin_client: Client, community: Community, **typed: Any) -> dict[str, Any]:
    """The fields that a browser submits for the current form, with some changed."""
    fields = {
        "name": community.name,
        "slug": community.slug,
        "agents_may_post": "on",
        "people_may_post": "on",
        "pre_moderation": "off",
        "allowed_tag_types": ["claim"],
        "blocked_words": "casino",
        "opened": opened_in(read(admin_client, community)),
    }
    return {name: value for name, value in (fields | typed).items() if value is not None}


def words_of(community: Community) -> list[str]:
    return list(Community.objects.values_list("blocked_words", flat=True).get(pk=community.pk))


def test_concurrent_change_of_another_field_is_not_overwritten(admin_client: Client, community: Community) -> None:
    older = opened(admin_client, community, read_only="on", reason="Closing.")
    call_command("create_community", "Harbour", "--block", "casino", "--block", "poker")
    response = admin_client.post(page(community), older)
    shown = response.content.decode()
    assert response.status_code == 200
    assert CONFLICT in shown
    assert "The field shows what is saved" in shown
    assert "casino\npoker</textarea>" in shown
    assert 'name="read_only" id="id_read_only" checked' in shown, "the form shows the submitted value"
    assert 'value="Closing."' in shown
    community.refresh_from_db()
    assert (community.blocked_words, community.read_only) == (["casino", "poker"], False)
    again = older | {"opened": opened_in(shown), "blocked_words": "casino\npoker"}
    assert admin_client.post(page(community), again).status_code == 302
    community.refresh_from_db()
    assert (community.blocked_words, community.read_only) == (["casino", "poker"], True)
    assert "Changed read only (no → yes): Closing." in read(admin_client, community, "history")


def test_concurrent_change_of_the_same_field_shows_the_difference(admin_client: Client, community: Community) -> None:
    older = opened(admin_client, community, blocked_words="casino\nroulette")
    call_command("create_community", "Harbour", "--block", "poker", "--block", "<b>")
    shown = admin_client.post(page(community), older).content.decode()
    assert CONFLICT in shown
    assert "What is saved has poker, &lt;b&gt; that yours has not; yours has casino, roulette that it has not." in shown
    assert "casino\nroulette</textarea>" in shown, "the form shows the submitted value"
    assert words_of(community) == ["poker", "<b>"]
    again = older | {"opened": opened_in(shown)}
    assert admin_client.post(page(community), again).status_code == 302, "the second submission confirms the change"
    assert words_of(community) == ["casino", "roulette"]


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        ("preModeration=agents", {"pre_moderation": "everyone"}, "Saved is: agents."),
        ("readOnly=true", {}, "The field shows what is saved."),
        ("allowedTagTypes=claim,evidence", {"allowed_tag_types": ["poll"]}, "What is saved has claim, evidence that"),
        ("agentsMayPost=false", {"people_may_post": None}, "The field shows what is saved."),
    ],
)
def test_concurrent_change_of_a_rule_is_reported_and_saves_nothing(
    admin_client: Client, community: Community, rule: str, value: dict[str, Any], message: str
) -> None:
    older = opened(admin_client, community, **value)
    call_command("create_community", "Harbour", "--rule", rule)
    before = Community.objects.values().get()
    assert message in admin_client.post(page(community), older).content.decode()
    assert Community.objects.values().get() == before


def test_the_same_change_by_two_users_is_not_a_conflict(admin_client: Client, community: Community) -> None:
    older = opened(admin_client, community, blocked_words="casino\npoker", read_only="on")
    call_command("create_community", "Harbour", "--block", "casino", "--block", "poker")
    assert admin_client.post(page(community), older).status_code == 302
    assert Community.objects.get().read_only


@pytest.mark.parametrize("sent", [None, "", "x", "=", "blocked_words", "a=b=c " * 999, "opened=1 blocked_words="])
def test_form_without_a_readable_opened_field_is_saved(
    admin_client: Client, community: Community, sent: str | None
) -> None:
    assert (
        admin_client.post(page(community), opened(admin_client, community, opened=sent, read_only="on")).status_code
        == 302
    )


def test_unchanged_word_list_over_the_limit_allows_other_changes(admin_client: Client, community: Community) -> None:
    words = [" ".join("a" * 50)] * 499 + ["_"]
    Community.objects.update(blocked_words=words)
    sent = opened(admin_client, community, blocked_words="\r\n".join(words), read_only="on")
    assert admin_client.post(page(community), sent).status_code == 302
    community.refresh_from_db()
    assert (community.read_only, community.blocked_words) == (True, words)


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_submissions_one_is_saved() -> None:
    community = CommunityFactory(name="Harbour", slug="harbour", blocked_words=["casino"])
    clients = [Client(), Client()]
    for admin_client in clients:
        admin_client.force_login(SuperAdminFactory())
    forms = [
        opened(admin_client, community, blocked_words=f"word{n}", people_may_post=None)
        for n, admin_client in enumerate(clients)
    ]
    barrier, statuses = Barrier(2), dict[int, int]()

    def save(n: int) -> None:
        barrier.wait()
        statuses[n] = clients[n].post(page(community), forms[n]).status_code
        connection.close()

    threads = [Thread(target=save, args=[n]) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses.values()) == [200, 302]
    (winner,) = (n for n, status in statuses.items() if status == 302)
    assert words_of(community) == [f"word{winner}"]
