"""Reports of posts in the admin."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from messaging.exceptions import MessageNotFound, NotInThisState
from messaging.models import Account, Community, Message, Report
from messaging.services.moderation import hide_message, restore_message
from messaging.services.reporting import dismiss_reports, reopen_reports
from tests.admin.pages import decide, page, read, rows_of
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db


def reported(times: int = 1, note: str = "", **fields: object) -> Message:
    message: Message = MessageFactory(**fields)
    for _ in range(times):
        body = {"reason": "abuse", "note": note}
        assert Api.as_person(PersonFactory()).post(f"/api/messages/{message.pk}/report", body).status == 200
    return message


def test_the_list_counts_the_open_reports_and_lists_reported_posts(admin_client: Client) -> None:
    MessageFactory(content="Not reported")
    message = reported(2, content="Reported twice")
    reported(1, content="Hidden since")
    decide(admin_client, Message.objects.get(content="Hidden since"), "hide", reason="Rude")
    listed = read(admin_client, Message, "changelist", reports="open")
    assert ("Reported twice" in listed, "Not reported" in listed, "Hidden since" in listed) == (True, False, False)
    assert any("2" in row for row in rows_of(listed))
    decide(admin_client, message, "dismiss_reports")
    assert "Reported twice" not in read(admin_client, Message, "changelist", reports="open")


def test_the_page_of_a_post_shows_its_reports_as_text(admin_client: Client) -> None:
    message = reported(note="<b>See line 2</b>")
    text = read(admin_client, message)
    assert "&lt;b&gt;See line 2&lt;/b&gt;" in text
    assert Report.objects.get().reporter.handle in text
    assert 'value="dismiss_reports"' in text


def test_a_post_without_open_reports_has_nothing_to_dismiss(admin_client: Client) -> None:
    message = MessageFactory()
    text = read(admin_client, message)
    assert "Reports</h2>" not in text
    assert page(message, "dismiss_reports") not in text


def test_dismissed_reports_are_shown_as_closed(admin_client: Client) -> None:
    message = reported()
    assert "reports dismissed" in decide(admin_client, message, "dismiss_reports", reason="Fine")
    text = read(admin_client, message)
    assert "closed" in text
    assert page(message, "dismiss_reports") not in text
    assert Api().get(f"/api/messages/{message.pk}").status == 200


def test_the_first_page_counts_the_reported_posts(admin_client: Client) -> None:
    reported(3)
    text = admin_client.get("/admin/").content.decode()
    assert "reported posts" in text
    assert f"{page(Message, 'changelist')}?reports=open" in text


def test_the_list_of_reports_has_no_action_on_them(admin_client: Client) -> None:
    message = reported(note="Rude", content="A rude post")
    text = read(admin_client, Report, "changelist")
    assert any({"Abuse", "Rude", "open"} <= set(row) for row in rows_of(text))
    assert page(message) in text
    assert "action-checkbox" not in text


def test_a_put_back_post_is_approved_from_the_queue(admin_client: Client) -> None:
    message = reported(1, community=CommunityFactory(reports_to_hide=1))
    assert Api().get(f"/api/messages/{message.pk}").status == 404
    decide(admin_client, message, "approve")
    assert Api().get(f"/api/messages/{message.pk}").status == 200


def test_the_rule_of_a_community_is_changed_in_its_form(admin_client: Client) -> None:
    community = CommunityFactory(name="Harbour", slug="harbour")
    fields = {"name": "Harbour", "slug": "harbour", "pre_moderation": "off", "people_may_post": "on"}
    fields |= {"agents_may_post": "on", "blocked_words": "", "reason": "Spam"}
    for sent, stored in (("4", 4), ("-1", 4), ("a", 4), ("99999", 4), ("0", 0)):
        admin_client.post(page(community), fields | {"reports_to_hide": sent}, follow=True)
        assert Community.objects.get().reports_to_hide == stored


def opened(message: Message) -> int:
    return Report.objects.filter(message=message, closed_at=None).count()


def test_a_dismissal_is_undone_from_the_list_and_from_the_page_of_the_post(admin_client: Client) -> None:
    message = reported(2)
    url, json = page(message, "decide"), {"Accept": "application/json"}
    answer = admin_client.post(url, {"decision": "dismiss_reports", "reason": ""}, headers=json).json()
    assert (answer["undo"], opened(message)) == ("reopen_reports", 0)
    assert admin_client.post(url, {"decision": "reopen_reports"}, headers=json).status_code == 200
    assert opened(message) == 2
    decide(admin_client, message, "dismiss_reports", reason="Fine")
    assert page(message, "reopen_reports") in read(admin_client, message)
    text = decide(admin_client, message, "reopen_reports", reason="Not fine")
    assert "reports are open again" in text
    assert "Dismissal of reports undone (closed → open): Not fine" in text
    assert opened(message) == 2
    assert page(message, "reopen_reports") not in text


def test_only_the_latest_dismissal_is_undone_at_once(admin_client: Client, boss: Account) -> None:
    message = reported(1)
    dismiss_reports(message_id=message.pk, by=boss)
    body = {"reason": "spam"}
    assert Api.as_person(PersonFactory()).post(f"/api/messages/{message.pk}/report", body).status == 200
    dismiss_reports(message_id=message.pk, by=boss)
    for expected in (1, 2, 2):
        reopen_reports(message_id=message.pk, by=boss)
        assert opened(message) == expected


def test_reports_that_a_decision_on_the_post_has_closed_stay_closed(admin_client: Client, boss: Account) -> None:
    message = reported(1)
    hide_message(message_id=message.pk, by=boss)
    with pytest.raises(NotInThisState):
        reopen_reports(message_id=message.pk, by=boss)
    restore_message(message_id=message.pk, by=boss)
    reopen_reports(message_id=message.pk, by=boss)
    assert opened(message) == 0
    assert page(message, "reopen_reports") not in read(admin_client, message)
    with pytest.raises(MessageNotFound):
        reopen_reports(message_id=uuid4(), by=boss)


def test_a_dismissal_of_before_a_decision_on_the_post_stays(boss: Account) -> None:
    message = reported(1)
    dismiss_reports(message_id=message.pk, by=boss)
    hide_message(message_id=message.pk, by=boss)
    restore_message(message_id=message.pk, by=boss)
    reopen_reports(message_id=message.pk, by=boss)
    assert opened(message) == 0
