"""Reports of posts in the admin; and decisions on a post that was edited after the page on which it was read."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from messaging.models import Account, BulkJob, Community, Message, MessageStatus, Report
from messaging.moderation.bulk_jobs import start_job
from messaging.moderation.lists.running import run_to_end
from messaging.moderation.reporting import dismiss_reports, reopen_reports
from messaging.moderation.services import hide_message, restore_message
from messaging.posts.exceptions import MessageNotFound, NotInThisState
from tests.admin.bystanders import Unchanged
from tests.admin.pages import decide, page, read, rows_of
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PENDING, PUBLISHED = MessageStatus.PENDING, MessageStatus.PUBLISHED
LONG_AGO = datetime(2026, 5, 1, tzinfo=UTC)
JSON = {"Accept": "application/json"}


def reported(times: int = 1, note: str = "", **fields: object) -> Message:
    message: Message = MessageFactory(**fields)
    for _ in range(times):
        report(message, note=note)
    return message


def report(message: Message, **fields: str) -> None:
    body = {"reason": "abuse"} | fields
    assert Api.as_person(PersonFactory()).post(f"/api/messages/{message.pk}/report", body).status == 200


def test_the_list_counts_the_open_reports_and_lists_reported_posts(admin_client: Client) -> None:
    MessageFactory(content="Not reported")
    message, hidden = reported(2, content="Reported twice"), reported(1, content="Hidden since")
    reported(1, content="Reported too")
    decide(admin_client, hidden, "hide", reason="Rude")

    def shown() -> list[str]:
        text = read(admin_client, Message, "changelist", reports="open")
        assert any("2 open reports" in row for row in rows_of(text)) == ("Reported twice" in text)
        contents = Message.objects.order_by("pk").values_list("content", flat=True)
        return [content for content in contents if content in text]

    assert shown() == ["Reported twice", "Reported too"]
    (unreported,) = (row for row in rows_of(read(admin_client, Message, "changelist")) if "Not reported" in str(row))
    assert "-1" not in unreported
    index = admin_client.get("/admin/").content.decode()
    assert "reported posts" in index
    assert f"{page(Message, 'changelist')}?reports=open" in index
    assert "reports dismissed" in decide(admin_client, message, "dismiss_reports", reason="Fine")
    assert shown() == ["Reported too"]


def test_the_page_of_a_post_shows_its_reports_as_text_and_the_list_of_reports_has_no_action(
    admin_client: Client,
) -> None:
    message = reported(note="<b>See line 2</b>")
    text = read(admin_client, message)
    assert "&lt;b&gt;See line 2&lt;/b&gt;" in text
    assert Report.objects.get().reporter.handle in text
    assert 'value="dismiss_reports"' in text
    text = read(admin_client, Report, "changelist")
    assert any({"Abuse", "<b>See line 2</b>", "open"} <= set(map(unescape, row)) for row in rows_of(text))
    assert page(message) in text
    assert "action-checkbox" not in text


def test_a_post_without_open_reports_has_nothing_to_dismiss(admin_client: Client) -> None:
    message = MessageFactory()
    text = read(admin_client, message)
    assert ("Reports</h2>" in text, page(message, "dismiss_reports") in text) == (False, False)
    report(message)
    decide(admin_client, message, "dismiss_reports")
    text = read(admin_client, message)
    assert ("closed" in text, page(message, "dismiss_reports") in text) == (True, False)
    assert Api().get(f"/api/messages/{message.pk}").status == 200


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


def test_a_dismissal_is_undone_from_the_list_and_from_the_page_of_the_post(
    admin_client: Client, boss: Account, unchanged: Unchanged
) -> None:
    message, dismissed = reported(2), reported()
    dismiss_reports(message_id=dismissed.pk, by=boss)
    unchanged(dismissed.reports.get(), reported().reports.get())
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
    report(message)
    dismiss_reports(message_id=message.pk, by=boss)
    for expected in (1, 2, 2):
        reopen_reports(message_id=message.pk, by=boss)
        assert opened(message) == expected


def test_reports_that_were_closed_before_or_by_a_decision_on_the_post_stay_closed(
    admin_client: Client, boss: Account
) -> None:
    message, dismissed = reported(1), reported(1)
    dismiss_reports(message_id=dismissed.pk, by=boss)
    for each in (message, dismissed):
        hide_message(message_id=each.pk, by=boss)
        with pytest.raises(NotInThisState):
            reopen_reports(message_id=each.pk, by=boss)
        restore_message(message_id=each.pk, by=boss)
        reopen_reports(message_id=each.pk, by=boss)
        assert opened(each) == 0
        assert page(each, "reopen_reports") not in read(admin_client, each)
    with pytest.raises(MessageNotFound):
        reopen_reports(message_id=uuid4(), by=boss)


def waiting(**fields: Any) -> Message:
    message: Message = MessageFactory(status=PENDING, content="What was read", updated_at=LONG_AGO, **fields)
    return message


def edit_meanwhile(message: Message) -> None:
    sent = {"content": "What nobody read"}
    assert Api.as_person(message.author).put(f"/api/messages/{message.pk}", sent).status == 200


def status_of(message: Message) -> str:
    return Message.objects.get(pk=message.pk).status


def seen_on(text: str, message: Message, *, before: str = "") -> dict[str, str]:
    """The field with the time of the post, of the first form after the text `before`."""
    found = re.search(rf'<input type="hidden" name="(seen-{message.pk})" value="([^"]+)">', text[text.index(before) :])
    return {unescape(found[1]): unescape(found[2])} if found else {}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param("changelist", 'id="decide-', id="row of the list"),
        pytest.param("change", "decision-form", id="page of the post"),
    ],
)
def test_a_decision_of_a_row_is_refused_after_an_edit(admin_client: Client, name: str, form: str) -> None:
    message = waiting()

    def decide() -> Any:
        text = read(admin_client, Message if name == "changelist" else message, name)
        seen = seen_on(text, message, before=form)
        return lambda: admin_client.post(page(message, "decide"), {"decision": "approve"} | seen, headers=JSON)

    stale = decide()
    edit_meanwhile(message)
    answer = stale()
    assert (answer.status_code, answer.json()["error"][-17:]) == (409, ": message edited.")
    assert status_of(message) == PENDING
    assert decide()().status_code == 200
    assert status_of(message) == PUBLISHED


def test_a_refused_decision_leads_to_the_page_with_the_new_text(admin_client: Client) -> None:
    message = waiting()
    seen = seen_on(read(admin_client, message), message, before="decision-form")
    edit_meanwhile(message)
    text = admin_client.post(page(message, "decide"), {"decision": "approve"} | seen, follow=True).content.decode()
    assert "message edited" in text
    assert "What nobody read" in text
    again = seen_on(text, message, before="decision-form")
    admin_client.post(page(message, "decide"), {"decision": "approve"} | again)
    assert status_of(message) == PUBLISHED


def test_reports_of_a_text_that_was_edited_since_are_not_dismissed(admin_client: Client) -> None:
    message = reported()
    Message.objects.update(updated_at=LONG_AGO)
    seen = seen_on(read(admin_client, message), message, before="decision-form")
    edit_meanwhile(message)
    sent = {"decision": "dismiss_reports"} | seen
    assert admin_client.post(page(message, "decide"), sent, headers=JSON).status_code == 409
    assert message.reports.filter(closed_at=None).exists()


def test_a_confirmation_page_confirms_what_it_shows(admin_client: Client) -> None:
    message = waiting()
    seen = seen_on(read(admin_client, message, "approve"), message)
    edit_meanwhile(message)
    text = admin_client.post(page(message, "approve"), seen, follow=True).content.decode()
    assert "Nothing was changed: What nobody read: message edited." in unescape(text)
    assert status_of(message) == PENDING
    admin_client.post(page(message, "approve"), seen_on(read(admin_client, message, "approve"), message))
    assert status_of(message) == PUBLISHED


@pytest.mark.parametrize("when", ["before the confirmation page", "after it"])
def test_of_several_rows_those_that_were_edited_since_are_refused(admin_client: Client, when: str) -> None:
    edited, other, of_another_page = waiting(), waiting(), waiting()
    rows = [edited, other, of_another_page]
    listed = read(admin_client, Message, "changelist")
    url, sent = page(Message, "changelist"), {"action": "approve", "_selected_action": [str(row.pk) for row in rows]}
    seen = seen_on(listed, edited, before="changelist-form") | seen_on(listed, other, before="changelist-form")
    if when == "before the confirmation page":
        edit_meanwhile(edited)
    confirmation = admin_client.post(url, sent | seen).content.decode()
    if when == "after it":
        edit_meanwhile(edited)
    confirmed = {name: value for row in rows for name, value in seen_on(confirmation, row).items()}
    assert len(confirmed) == 3
    text = admin_client.post(url, sent | {"confirmed": "1"} | confirmed, follow=True).content.decode()
    assert "message edited" in text
    assert [status_of(row) for row in rows] == [PENDING, PUBLISHED, PUBLISHED]


def test_a_job_refuses_rows_that_were_edited_after_its_start(boss: Account) -> None:
    rows = [waiting() for _ in range(3)]
    job = start_job(kind="messaging.message:approve", label="Approve", ids=[row.pk for row in rows], by=boss)
    BulkJob.objects.update(created_at=LONG_AGO)
    edit_meanwhile(rows[1])
    done = run_to_end(job.pk)
    assert (done.done, done.refused, done.errors) == (2, 1, [f"{rows[1].pk}: message edited"])
    assert [status_of(row) for row in rows] == [PUBLISHED, PENDING, PUBLISHED]


def test_an_edited_post_is_hidden_all_the_same(admin_client: Client) -> None:
    message = waiting()
    seen = seen_on(read(admin_client, message), message, before="decision-form")
    edit_meanwhile(message)
    sent = {"decision": "hide", "reason": "Rude"} | seen
    assert admin_client.post(page(message, "decide"), sent, headers=JSON).status_code == 200
    assert status_of(message) == MessageStatus.HIDDEN
