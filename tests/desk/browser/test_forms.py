"""The forms of the desk, its search of everything and the count in the title."""

from __future__ import annotations

import zipfile

import pytest
from django.contrib.admin.models import LogEntry
from playwright.sync_api import Page, expect

from mails.kinds import Frequency, Kind
from mails.preferences import preferences_of
from messaging.models import Account, Community, Message, ReadyReason
from messaging.models.moderation import reasons_for
from tests.admin.pages import page as path_of
from tests.agents.factories import RequestFactory
from tests.desk.browser.using import check_width, expect_message, open_page, press, press_button, send_form
from tests.factories import MessageFactory, PersonFactory

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_community_is_added_changed_and_its_words_are_tried(page: Page) -> None:
    open_page(page, Community, "changelist")
    press(page.get_by_role("link", name="Add community"))
    page.get_by_label("Name").press_sequentially("Harbour Gazette")
    expect(page.get_by_label("Slug")).to_have_value("harbour-gazette")
    check_width(page)
    press_button(page, "Save")
    expect_message(page, "was added successfully")
    press(page.get_by_role("link", name="Harbour Gazette").first)
    page.get_by_role("textbox", name="Blocked words").fill("spam*\ncheap boats")
    page.get_by_label("Read only").check()
    page.get_by_label("Reason").fill("A flood.")
    check_width(page)
    press_button(page, "Save and continue editing")
    expect_message(page, "was changed successfully")
    community = Community.objects.get()
    assert (community.blocked_words, community.read_only) == (["spam*", "cheap boats"], True)
    assert LogEntry.objects.latest("pk").get_change_message().endswith(": A flood.")
    page.get_by_label("Text", exact=True).fill("No antispam, but spammers.")
    press_button(page, "Try")
    expect(page.locator("mark")).to_have_text(["spam"])
    expect(page.get_by_label("Text", exact=True)).to_have_value("No antispam, but spammers.")
    check_width(page)


def test_a_ready_reason_is_added_changed_and_removed(page: Page) -> None:
    open_page(page, ReadyReason, "add")
    page.get_by_label("For:", exact=True).select_option("post")
    page.get_by_label("Text").fill("Too long.")
    page.get_by_label("Position").fill("0")
    press_button(page, "Save")
    expect_message(page, "was added successfully")
    assert reasons_for("post")[0] == "Too long."
    open_page(page, ReadyReason.objects.get(text="Too long."))
    page.get_by_label("Text").fill("Too long, please shorten.")
    press_button(page, "Save")
    expect_message(page, "was changed successfully")
    assert reasons_for("post")[0] == "Too long, please shorten."
    open_page(page, ReadyReason.objects.get(text="Too long, please shorten."))
    press(page.get_by_role("link", name="Delete"))
    press_button(page, "Yes, I’m sure")
    expect_message(page, "was deleted successfully")
    assert "Too long, please shorten." not in reasons_for("post")


def test_a_super_admin_chooses_the_notices_by_mail(page: Page, boss: Account) -> None:
    page.goto("/admin/")
    press(page.locator(".user-menu > summary"))
    press(page.get_by_role("link", name="Notices by mail"))
    for question, answer in (("New agent requests", "Once a day"), ("Troubles of the service", "Never")):
        page.get_by_role("group", name=question).get_by_label(answer).check()
    check_width(page)
    press_button(page, "Save")
    expect_message(page, "Your choice is saved.")
    expect(page.get_by_role("group", name="Troubles of the service").get_by_label("Never")).to_be_checked()
    chosen = preferences_of(boss)
    assert (chosen[Kind.REQUEST], chosen[Kind.HEALTH]) == (Frequency.DAILY, Frequency.OFF)


def test_the_record_of_an_account_is_downloaded(page: Page) -> None:
    person = PersonFactory(handle="harbour_fan")
    MessageFactory(author=person, content="Mine.")
    page.goto(f"/admin/record/?account={person.handle}")
    with page.expect_download() as download:
        send_form(page, "Export", reason="A court asks.")
    assert download.value.suggested_filename.startswith("record-harbour_fan-")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert b"Mine." in archive.read("export/posts.json")
    assert LogEntry.objects.get(object_id=str(person.pk)).change_message == "Record exported: A court asks."


def test_a_person_is_found_by_the_key_or_by_the_box(page: Page) -> None:
    person = PersonFactory(handle="heron_watcher")
    box = page.get_by_role("searchbox", name="Search everything")
    for begin in (lambda: page.keyboard.press("/"), lambda: press(box)):
        open_page(page, Message, "changelist")
        begin()
        expect(box).to_be_focused()
        page.keyboard.type("heron")
        page.keyboard.press("Enter")
        found = page.get_by_role("link", name="@heron_watcher")
        expect(found).to_be_visible()
        check_width(page)
        press(found)
        page.wait_for_url(f"**{path_of(person)}")


def test_the_title_counts_what_waits(page: Page) -> None:
    page.goto("/admin/search/")
    expect(page).to_have_title("Search | Community Messaging")
    RequestFactory()
    MessageFactory(status="pending")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page).to_have_title("(2) Search | Community Messaging")
