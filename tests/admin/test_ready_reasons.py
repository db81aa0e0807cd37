"""The ready reasons: a list that super admins edit, offered where requests and posts are decided."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils.html import escape

from agents.models import AgentRequest
from messaging.models import Account, Message, ReadyReason, ReasonFor
from messaging.models.ready_reason import DEFAULTS, OFFERED_MAX, reasons_for
from messaging.services.moderators import add_moderator
from tests.admin.pages import page, read
from tests.agents.factories import RequestFactory
from tests.factories import CommunityFactory, MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PENDING = {"status__exact": "pending"}


@pytest.mark.parametrize("what", ReasonFor)
def test_a_new_database_has_the_default_ones(what: ReasonFor) -> None:
    """They are translated by their texts."""
    assert reasons_for(what) == list(DEFAULTS[what])


def test_they_are_offered_in_the_lists_and_on_the_pages_of_the_rows(admin_client: Client) -> None:
    waiting, post = RequestFactory(), MessageFactory(status="pending")
    for model, row, what in ((AgentRequest, waiting, "request"), (Message, post, "post")):
        offered = [escape(text) for text in DEFAULTS[ReasonFor(what)]]
        for shown in (read(admin_client, model, "changelist", **PENDING), read(admin_client, row)):
            assert all(f'<option value="{text}">' in shown for text in offered)


def test_moderators_are_offered_those_for_posts(boss: Account) -> None:
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


def test_a_super_admin_edits_adds_and_removes_them(admin_client: Client) -> None:
    spam = ReadyReason.objects.get(text="Spam or advertising.")
    fields = {"of": "post", "position": "1"}
    admin_client.post(page(spam, "change"), fields | {"text": "No advertising, please."})
    admin_client.post(page(ReadyReason, "add"), fields | {"text": "Too long.", "position": "0"})
    assert reasons_for(ReasonFor.POST)[:2] == ["Too long.", "No advertising, please."]
    entry = LogEntry.objects.get(object_id=str(spam.pk))
    assert "Spam or advertising." in entry.get_change_message()
    assert "No advertising, please." in entry.get_change_message()
    admin_client.post(page(spam, "delete"), {"post": "yes"})
    assert "No advertising, please." not in reasons_for(ReasonFor.POST)


def test_the_same_text_twice_and_an_empty_one_are_refused(admin_client: Client) -> None:
    for text in ("Spam or advertising.", "", "x" * 501):
        response = admin_client.post(page(ReadyReason, "add"), {"of": "post", "position": "1", "text": text})
        assert (response.status_code, "errorlist" in response.content.decode()) == (200, True)


def test_no_more_are_offered_than_number_keys_choose(admin_client: Client) -> None:
    for number in range(OFFERED_MAX):
        ReadyReason.objects.create(of=ReasonFor.POST, position=number, text=f"Reason {number}")
    assert len(reasons_for(ReasonFor.POST)) == OFFERED_MAX
