"""Decisions on a whole list, its saved filters and its download."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import Page, expect

from agents.admin import AgentRequestAdmin
from agents.models import AgentRequest
from kernel.jobs.queue import run_due
from messaging.models import SavedList
from tests.agents.factories import RequestFactory
from tests.desk.browser.using import (
    PENDING,
    as_worker,
    confirm,
    expect_finished,
    expect_message,
    open_page,
    press,
    press_button,
    send_form,
)
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def statuses(prefix: str) -> set[str]:
    return set(AgentRequest.objects.filter(agent_handle__startswith=prefix).values_list("status", flat=True))


def test_a_whole_list_is_rejected_by_a_job_and_the_job_is_undone(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AgentRequestAdmin, "list_per_page", 2)
    monkeypatch.setattr("messaging.moderation.lists.many.BULK_MAX", 3)
    for n in range(5):
        RequestFactory(agent_handle=f"spam_{n}x")
    RequestFactory(agent_handle="decent_one")
    open_page(page, AgentRequest, "changelist", f"{PENDING}&q=spam_")
    page.get_by_role("checkbox", name="Select all").check()
    press(page.get_by_role("button", name="Select all 5 agent requests"))
    page.get_by_role("combobox", name="Action").select_option("Reject")
    press_button(page, "Go")
    expect(page.get_by_role("heading", name="Reject: 5 chosen")).to_be_visible()
    send_form(page, "Reject", reason="Spam.")
    assert eventually(lambda: as_worker(lambda: run_due("desk_jobs")) == 1)
    expect_finished(page, "5 of 5 done")
    assert (statuses("spam_"), statuses("decent")) == ({"rejected"}, {"pending"})
    confirm(page, "Undo")
    expect_message(page, "is being undone by another job")
    press(page.get_by_role("link", name="Undo: Reject 5"))
    expect_finished(page, "5 of 5 done")
    assert statuses("spam_") == {"pending"}


def test_filters_are_saved_opened_downloaded_and_removed(page: Page) -> None:
    RequestFactory(agent_handle="harbour_one", purpose="Tides, and more.")
    RequestFactory(agent_handle="other_one")
    open_page(page, AgentRequest, "changelist")
    page.get_by_label("Search agent requests").fill("harbour")
    press_button(page, "Search")
    # A tap does not wait for the page that it leads to.
    expect(page.get_by_text("1 agent request", exact=True)).to_be_visible()
    press(page.get_by_text("Saved lists"))
    page.get_by_label("Save these filters as").fill("Of the harbour")
    press_button(page, "Save")
    expect_message(page, "The list is saved.")
    open_page(page, AgentRequest, "changelist")
    expect(page.get_by_text("2 agent requests", exact=True)).to_be_visible()
    press(page.get_by_role("link", name="Of the harbour"))
    expect(page.get_by_text("1 agent request", exact=True)).to_be_visible()
    with page.expect_download() as download:
        press(page.get_by_role("link", name="CSV"))
    with download.value.path().open(newline="", encoding="utf-8") as file:
        rows = [(row["handle"], row["purpose"]) for row in csv.DictReader(file)]
    assert rows == [("harbour_one", "Tides, and more.")], download.value.suggested_filename
    press(page.get_by_text("Saved lists"))
    press_button(page, "Remove Of the harbour")
    expect(page.get_by_role("link", name="Of the harbour")).to_have_count(0)
    assert not SavedList.objects.exists()
