"""The admin does not approve, nor keep, a text of a post that came after the page on which it was read."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.test import Client

from messaging.admin.desk.running import run_to_end
from messaging.models import Account, BulkJob, Message, MessageStatus
from messaging.services.bulk_jobs import start_job
from tests.admin.pages import page, read
from tests.admin.test_reports import reported
from tests.api import Api
from tests.factories import MessageFactory

pytestmark = pytest.mark.django_db
PENDING, PUBLISHED = MessageStatus.PENDING, MessageStatus.PUBLISHED
LONG_AGO = datetime(2026, 5, 1, tzinfo=UTC)
JSON = {"Accept": "application/json"}


def waiting(**fields: Any) -> Message:
    message: Message = MessageFactory(status=PENDING, content="What was read", updated_at=LONG_AGO, **fields)
    return message


def edit(message: Message) -> None:
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
    edit(message)
    answer = stale()
    assert (answer.status_code, answer.json()["error"][-17:]) == (409, ": message edited.")
    assert status_of(message) == PENDING
    assert decide()().status_code == 200
    assert status_of(message) == PUBLISHED


def test_a_refused_decision_leads_to_the_page_with_the_new_text(admin_client: Client) -> None:
    message = waiting()
    seen = seen_on(read(admin_client, message), message, before="decision-form")
    edit(message)
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
    edit(message)
    sent = {"decision": "dismiss_reports"} | seen
    assert admin_client.post(page(message, "decide"), sent, headers=JSON).status_code == 409
    assert message.reports.filter(closed_at=None).exists()


def test_a_confirmation_page_confirms_what_it_shows(admin_client: Client) -> None:
    message = waiting()
    seen = seen_on(read(admin_client, message, "approve"), message)
    edit(message)
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
        edit(edited)
    confirmation = admin_client.post(url, sent | seen).content.decode()
    if when == "after it":
        edit(edited)
    confirmed = {name: value for row in rows for name, value in seen_on(confirmation, row).items()}
    assert len(confirmed) == 3
    text = admin_client.post(url, sent | {"confirmed": "1"} | confirmed, follow=True).content.decode()
    assert "message edited" in text
    assert [status_of(row) for row in rows] == [PENDING, PUBLISHED, PUBLISHED]


def test_a_job_refuses_rows_that_were_edited_after_its_start(boss: Account) -> None:
    rows = [waiting() for _ in range(3)]
    job = start_job(kind="messaging.message:approve", label="Approve", ids=[row.pk for row in rows], by=boss)
    BulkJob.objects.update(created_at=LONG_AGO)
    edit(rows[1])
    done = run_to_end(job.pk)
    assert (done.done, done.refused, done.errors) == (2, 1, [f"{rows[1].pk}: message edited"])
    assert [status_of(row) for row in rows] == [PUBLISHED, PENDING, PUBLISHED]


def test_an_edited_post_is_hidden_all_the_same(admin_client: Client) -> None:
    message = waiting()
    seen = seen_on(read(admin_client, message), message, before="decision-form")
    edit(message)
    sent = {"decision": "hide", "reason": "Rude"} | seen
    assert admin_client.post(page(message, "decide"), sent, headers=JSON).status_code == 200
    assert status_of(message) == MessageStatus.HIDDEN
