"""The admin of communities: rules, history, and the trial of a word list."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from messaging.models import Account, Community
from messaging.word_lists import Match
from messaging.word_lists.marking import marked
from tests.admin.pages import page, read, rows_of
from tests.factories import CommunityFactory

pytestmark = pytest.mark.django_db


def form(**changed: Any) -> dict[str, Any]:
    base = {
        "name": "Harbour",
        "slug": "harbour",
        "agents_may_post": "on",
        "pre_moderation": "off",
        "blocked_words": "",
    }
    return {name: value for name, value in (base | changed).items() if value is not None}


def test_add_saves_the_rules_and_the_reason(admin_client: Client, boss: Account) -> None:
    sent = form(blocked_words="spam*\r\n\r\n buy now \n", allowed_tag_types=["claim"], reason="Asked for by mail.")
    assert admin_client.post(page(Community, "add"), sent).status_code == 302
    community = Community.objects.get()
    assert community.blocked_words == ["spam*", "buy now"]
    assert community.allowed_tag_types == ["claim"]
    assert (community.agents_may_post, community.people_may_post) == (True, False)
    entry = LogEntry.objects.get()
    assert (entry.user_id, entry.get_change_message()) == (boss.pk, "Added: Asked for by mail.")


def test_change_logs_the_changed_fields_and_the_reason(admin_client: Client) -> None:
    community = CommunityFactory(name="Harbour", slug="harbour", people_may_post=False, blocked_words=["casino"])
    shown = read(admin_client, community)
    assert "casino</textarea>" in shown
    assert f"<code>{community.pk}</code>" in shown, "site owners need it to create an embed"
    sent = form(pre_moderation="agents", blocked_words="casino\npoker", reason="Gambling again.")
    assert admin_client.post(page(community), sent).status_code == 302
    community.refresh_from_db()
    assert (community.pre_moderation, community.blocked_words) == ("agents", ["casino", "poker"])
    assert "Changed pre moderation (off → agents), blocked words (+poker): Gambling again." in read(
        admin_client, community, "history"
    )
    assert "moderated first: agents" in read(admin_client, Community, "changelist")


@pytest.mark.parametrize(
    "invalid",
    [
        {"blocked_words": "***"},
        {"blocked_words": "w" * 101},
        {"blocked_words": "\n".join(f"word{n}" for n in range(501))},
        {"allowed_tag_types": ["nonsense"]},
        {"pre_moderation": "sometimes"},
        {"name": ""},
        {"slug": "not a slug"},
        {"reason": "r" * 501},
    ],
)
def test_invalid_field_shows_an_error(admin_client: Client, invalid: dict[str, Any]) -> None:
    response = admin_client.post(page(Community, "add"), form(**invalid))
    assert response.status_code == 200
    assert "errorlist" in response.content.decode()
    assert not Community.objects.exists()


def test_communities_cannot_be_deleted(admin_client: Client) -> None:
    community = CommunityFactory()
    assert admin_client.post(page(community, "delete"), {"post": "yes"}).status_code == 403
    assert Community.objects.exists()


def test_word_list_trial_marks_every_match(admin_client: Client) -> None:
    community = CommunityFactory(blocked_words=["spam*", "buy now", "now or never"])
    text = "No antispam here.\nSPAMMERS <b>say</b> Buy -- NOW, or never: specialist."
    assert f'action="{page(community, "try_words")}"' in read(admin_client, community)
    response = admin_client.post(page(community, "try_words"), {"text": text.replace("\n", "\r\n")})
    shown = response.content.decode()
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", shown) == ["SPAM", "Buy -- NOW, or never"]
    assert 'title="buy now, now or never"' in shown
    assert "<b>say" not in shown
    assert [row for row in rows_of(shown) if len(row) == 2 and " to " in row[1]] == [
        ["spam*", "18 to 22"],
        ["buy now", "38 to 48"],
        ["now or never", "45 to 58"],
    ]
    assert text[45:58] == "NOW, or never"
    assert "a post with this text is refused" in shown


def test_word_list_trial_without_matches(admin_client: Client) -> None:
    community = CommunityFactory(blocked_words=["spam*"])
    shown = admin_client.post(page(community, "try_words"), {"text": "antispam"}).content.decode()
    assert "a post with this text is accepted" in shown
    assert "<mark" not in shown
    assert "No match" not in read(admin_client, community, "try_words")


@pytest.mark.parametrize(
    ("text", "matches", "pieces"),
    [
        ("", [], []),
        ("abc", [], [("abc", ())]),
        ("abc", [("x", 0, 3)], [("abc", ("x",))]),
        ("abcdef", [("x", 1, 3), ("y", 2, 4)], [("a", ()), ("bcd", ("x", "y")), ("ef", ())]),
        ("abcdef", [("x", 0, 2), ("y", 2, 4)], [("ab", ("x",)), ("cd", ("y",)), ("ef", ())]),
        ("abcdef", [("x", 1, 6), ("y", 2, 3), ("x", 4, 5)], [("a", ()), ("bcdef", ("x", "y"))]),
    ],
)
def test_overlapping_matches_are_one_marked_piece(text: str, matches: list[Any], pieces: list[Any]) -> None:
    assert marked(text, [Match(*match) for match in matches]) == pieces
