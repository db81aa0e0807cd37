"""The journey of a moderator who brings the comments of another system, on a phone. Pages fit a desk, too."""

from __future__ import annotations

import csv
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import BrowserContext, expect

from kernel.jobs.queue import run_due
from messaging.models import Message
from moving.models import Move, MoveStatus
from tests.account_area.conftest import browser_context, sign_in  # noqa: F401  a fixture
from tests.account_area.looks import check_in_turn as check
from tests.factories import PersonFactory
from tests.moving.files import SAMPLES
from tests.moving.imports.importing import MAP, site

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def run_the_step() -> None:
    """In a thread of its own, as a worker does: Playwright's event loop runs in that of the test."""

    def run() -> int:
        try:
            return run_due("imports")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run).result() == 1


def test_comments_are_checked_imported_and_removed(
    browser_context: BrowserContext,  # noqa: F811
    live_server: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Every step waits for the page to be loaded again.
    monkeypatch.setattr("account_area.moderation.imports.REFRESH_SECONDS", 1)
    person = PersonFactory()
    community = site(person, "Harbour Gazette")
    sign_in(browser_context, live_server.url, person)
    page = browser_context.new_page()
    page.goto(f"/account/communities/{community.slug}/moderation/imports/")
    check(page)
    page.get_by_label("From").select_option(label="Disqus")
    page.get_by_label("File", exact=True).set_input_files(SAMPLES / "disqus.xml")
    page.get_by_label("Moved addresses").fill("\n".join(MAP))
    page.get_by_role("button", name="Upload and check").click()

    # The page is loaded again by itself, so it is checked between the steps.
    badge = page.locator(".badge").first
    expect(badge).to_have_text("is being checked")
    expect(page.get_by_role("progressbar")).to_be_visible()
    run_the_step()
    expect(badge).to_have_text("checked, not imported yet")
    expect(page.get_by_role("region", name="The first posts").get_by_role("listitem").first).to_be_visible()
    check(page)
    assert not Message.objects.exists()

    page.get_by_role("button", name="Import", exact=True).click()
    expect(badge).to_have_text("begins in a moment")
    Move.objects.update(status=MoveStatus.RUNNING, step="writing", done=1, total=4)
    expect(page.get_by_text("Writing the posts")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "25")
    run_the_step()
    expect(badge).to_have_text("imported")
    check(page)
    assert Message.objects.filter(status="published").count() == 301
    with page.expect_download() as download:
        page.get_by_role("link", name="Report").click()
    with download.value.path().open(newline="", encoding="utf-8") as file:
        assert "It is spam." in {row["reason"] for row in csv.DictReader(file)}

    page.get_by_text("Remove this import").click()
    check(page)
    page.get_by_role("button", name="Remove the posts").click()
    expect(badge).to_have_text("is being removed")
    run_the_step()
    expect(badge).to_have_text("removed")
    check(page)
    assert not Message.objects.exists()
