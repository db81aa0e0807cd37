"""The forms of communities and ready reasons: rules, history, trials of words, forms opened before a change."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.test import Client
from django.utils.html import escape

from agents.models import AgentRequest
from messaging.communities.moderators import add_moderator
from messaging.models import Account, Community, Message, ReadyReason, ReasonFor
from messaging.models.moderation import DEFAULTS, OFFERED_MAX, reasons_for
from messaging.word_lists import Match
from messaging.word_lists.marking import marked
from tests.admin.bystanders import Unchanged
from tests.admin.pages import page, read, rows_of
from tests.agents.factories import RequestFactory
from tests.agents.racing import race
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
CONFLICT = "changed by another user after you opened the form"
PENDING = {"status__exact": "pending"}


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


def test_change_logs_the_changed_fields_and_the_reason_and_deletion_is_refused(admin_client: Client) -> None:
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
    assert admin_client.post(page(community, "delete"), {"post": "yes"}).status_code == 403
    assert Community.objects.exists()


def test_invalid_field_shows_an_error(admin_client: Client) -> None:
    for invalid in (
        {"blocked_words": "***"},
        {"blocked_words": "w" * 101},
        {"blocked_words": "\n".join(f"word{n}" for n in range(501))},
        {"allowed_tag_types": ["nonsense"]},
        {"pre_moderation": "sometimes"},
        *({"name": ""}, {"slug": "not a slug"}, {"reason": "r" * 501}),
    ):
        response = admin_client.post(page(Community, "add"), form(**invalid))
        assert (response.status_code, "errorlist" in response.content.decode()) == (200, True), invalid
    assert not Community.objects.exists()


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
    shown = admin_client.post(page(community, "try_words"), {"text": "Say **sp**am"}).content.decode()
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", shown) == ["spam"]
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


@pytest.fixture
def community(db: None) -> Community:
    return CommunityFactory(name="Harbour", slug="harbour", blocked_words=["casino"], allowed_tag_types=["claim"])


def opened_in(text: str) -> str:
    match = re.search(r'<input type="hidden" name="opened" value="([^"]+)"', text)
    assert match
    return unescape(match[1])


def opened(admin_client: Client, community: Community, **typed: Any) -> dict[str, Any]:
    """The fields that a browser submits for the current form, with some changed."""
    fields = form(people_may_post="on", allowed_tag_types=["claim"], blocked_words="casino")
    fields |= {"opened": opened_in(read(admin_client, community))} | typed
    return {name: value for name, value in fields.items() if value is not None}


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


def test_form_without_a_readable_opened_field_is_saved(admin_client: Client, community: Community) -> None:
    unreadable = (None, "", "x", "=", "blocked_words", "a=b=c " * 999, "opened=1 blocked_words=")
    for number, sent in enumerate(unreadable):
        form = opened(admin_client, community, opened=sent, read_only=None if number % 2 else "on")
        assert admin_client.post(page(community), form).status_code == 302, sent
        assert Community.objects.get().read_only == (number % 2 == 0)


def test_equal_or_unchanged_word_lists_allow_other_changes_also_over_the_limit(
    admin_client: Client, community: Community
) -> None:
    # The same change by two users is no conflict.
    older = opened(admin_client, community, blocked_words="casino\npoker")
    call_command("create_community", "Harbour", "--block", "casino", "--block", "poker")
    assert admin_client.post(page(community), older).status_code == 302
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
    statuses = race(2, lambda n: clients[n].post(page(community), forms[n]).status_code)
    assert sorted(statuses) == [200, 302]
    assert words_of(community) == [f"word{statuses.index(302)}"]


def test_a_new_database_has_the_default_reasons_which_are_translated_by_their_texts() -> None:
    assert {what: reasons_for(what) for what in ReasonFor} == {what: list(DEFAULTS[what]) for what in ReasonFor}


def test_ready_reasons_are_offered_in_the_lists_and_on_the_pages_of_the_rows(admin_client: Client) -> None:
    waiting, post = RequestFactory(), MessageFactory(status="pending")
    for model, row, what in ((AgentRequest, waiting, "request"), (Message, post, "post")):
        offered = [escape(text) for text in DEFAULTS[ReasonFor(what)]]
        for shown in (read(admin_client, model, "changelist", **PENDING), read(admin_client, row)):
            assert all(f'<option value="{text}">' in shown for text in offered)


def test_moderators_are_offered_the_reasons_for_posts(boss: Account) -> None:
    person, community = PersonFactory(), CommunityFactory(slug="harbour")
    add_moderator(community_id=community.pk, handle=person.handle, by=boss)
    post, client = MessageFactory(community=community, status="pending"), Client()
    client.force_login(person)
    for path in (
        "/account/communities/harbour/moderation/",
        f"/account/communities/harbour/moderation/posts/{post.pk}/",
    ):
        shown = client.get(path).content.decode()
        assert '<option value="Spam or advertising.">' in shown
        assert 'list="ready-reasons"' in shown


def test_a_super_admin_edits_adds_and_removes_ready_reasons(admin_client: Client, unchanged: Unchanged) -> None:
    spam = ReadyReason.objects.get(text="Spam or advertising.")
    unchanged(*ReadyReason.objects.exclude(pk=spam.pk))
    fields = {"of": "post", "position": "1"}
    admin_client.post(page(spam, "change"), fields | {"text": "No advertising, please."})
    admin_client.post(page(ReadyReason, "add"), fields | {"text": "Too long.", "position": "0"})
    assert reasons_for(ReasonFor.POST)[:2] == ["Too long.", "No advertising, please."]
    entry = LogEntry.objects.get(object_id=str(spam.pk))
    assert "Spam or advertising." in entry.get_change_message()
    assert "No advertising, please." in entry.get_change_message()
    admin_client.post(page(spam, "delete"), {"post": "yes"})
    assert "No advertising, please." not in reasons_for(ReasonFor.POST)


def test_the_same_reason_twice_and_an_empty_one_are_refused(admin_client: Client) -> None:
    for text in ("Spam or advertising.", "", "x" * 501):
        response = admin_client.post(page(ReadyReason, "add"), {"of": "post", "position": "1", "text": text})
        assert (response.status_code, "errorlist" in response.content.decode()) == (200, True)


def test_no_more_reasons_are_offered_than_number_keys_choose(admin_client: Client) -> None:
    for number in range(OFFERED_MAX):
        ReadyReason.objects.create(of=ReasonFor.POST, position=number, text=f"Reason {number}")
    assert len(reasons_for(ReasonFor.POST)) == OFFERED_MAX
