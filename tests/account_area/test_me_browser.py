"""The journey of a person through "Myself" in a browser, from a new name to an erasure that is cancelled."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from mails.kinds import Frequency, Kind
from mails.preferences import preferences_of
from messaging.models import Message, PersonErasure
from messaging.personal_data.jobs import run_due_jobs
from reactions.models import Reaction
from tests.account_area.conftest import sign_in
from tests.account_area.looks import BOTH_SIZES, check
from tests.api import Api
from tests.factories import MessageFactory, PageFactory, PersonFactory

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route

    from messaging.models import Account

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ME = "/account/me/"
PASSWORD = "correct horse battery"
LONG_WORD = "Donaudampfschifffahrtsgesellschaft" * 8


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def said(page: Page, text: str) -> None:
    expect(page.get_by_role("status")).to_have_text(text)


def from_myself(page: Page, name: str) -> None:
    page.goto(ME)
    page.get_by_role("main").get_by_role("link", name=name, exact=True).click()
    heading(page, name)


def change_the_name(page: Page, person: Account) -> None:
    page.goto(ME)
    check(page)
    page.get_by_label("Name", exact=True).fill("a\u202eb")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".errorlist")).to_be_visible()
    check(page)
    page.get_by_label("Name", exact=True).fill("Ada Byron")
    page.get_by_role("button", name="Save").click()
    said(page, "Saved.")
    person.refresh_from_db()
    assert person.name == "Ada Byron"


def edit_and_delete_a_post(page: Page, post: Message) -> None:
    from_myself(page, "Your posts")
    check(page)
    page.get_by_role("link", name="Edit").click()
    heading(page, "Edit the post")
    check(page)
    page.get_by_label("Text").fill("The ferry leaves at ten.")
    page.get_by_role("button", name="Save").click()
    said(page, "Saved.")
    expect(page.get_by_text("The ferry leaves at ten.")).to_be_visible()
    page.get_by_role("link", name="Delete").click()
    heading(page, "Delete the post?")
    check(page)
    page.get_by_role("button", name="Delete").click()
    said(page, "The post is deleted.")
    check(page)
    post.refresh_from_db()
    assert post.status == "deleted"


def remove_a_reaction(page: Page) -> None:
    from_myself(page, "Your reactions")
    check(page)
    page.get_by_role("button", name="Remove").click()
    said(page, "The reaction is removed.")
    check(page)
    assert not Reaction.objects.exists()


def check_the_waiting_export(page: Page) -> None:
    """In a page of its own, without the header that loads it again: axe needs a page that stays."""

    def without_refresh(route: Route) -> None:
        response = route.fetch()
        assert response.headers["refresh"] == "3"
        headers = {name: value for name, value in response.headers.items() if name != "refresh"}
        route.fulfill(response=response, headers=headers)

    staying = page.context.new_page()
    staying.route("**/account/me/export/", without_refresh)
    staying.goto(f"{ME}export/")
    expect(staying.get_by_role("progressbar")).to_be_visible()
    check(staying)
    staying.close()


def export_everything(page: Page, person: Account) -> None:
    from_myself(page, "Export your data")
    check(page)
    page.get_by_role("button", name="Make an export").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    check_the_waiting_export(page)
    run_due_jobs()
    # The page loads itself again until the export is ready.
    link = page.get_by_role("link", name="Download")
    expect(link).to_be_visible()
    check(page)
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename.startswith(f"{person.handle}-")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert b"Ada Byron" in archive.read("export/index.html")


def choose_mails(page: Page, person: Account) -> None:
    page.goto(f"{ME}mails/")
    check(page)
    page.locator(f"select[name={Kind.ANSWER.value}]").select_option(Frequency.DAILY.value)
    page.get_by_role("button", name="Save").click()
    said(page, "Your choice is saved.")
    assert preferences_of(person)[Kind.ANSWER] == Frequency.DAILY
    expect(page.locator(f"select[name={Kind.ANSWER.value}]")).to_have_value(Frequency.DAILY.value)


def ask_for_the_erasure_and_cancel_it(page: Page) -> None:
    from_myself(page, "Erase your account")
    page.get_by_label("They are deleted").check()
    page.get_by_label("Your password").fill("not it")
    page.get_by_role("button", name="Erase my account").click()
    expect(page.get_by_text("The password is wrong.").first).to_be_visible()
    check(page)
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Erase my account").click()
    heading(page, "Your account will be erased")
    check(page)
    assert PersonErasure.objects.get().posts == "deleted"
    page.get_by_role("button", name="Cancel the erasure").click()
    said(page, "Your account stays.")
    assert not PersonErasure.objects.exists()


@BOTH_SIZES
def test_a_person_manages_what_is_stored_about_them(browser_context: BrowserContext, live_server: Any) -> None:
    person, site = PersonFactory(password=PASSWORD), PageFactory()
    post = MessageFactory(author=person, page=site, content=LONG_WORD)
    liked = MessageFactory(author=PersonFactory(), page=site, content=LONG_WORD)
    assert Api.as_person(person).post("/v1/reactions", {"messageId": str(liked.pk), "emoji": "🎉"}).status == 200
    sign_in(browser_context, live_server.url, person)
    page = browser_context.new_page()
    change_the_name(page, person)
    edit_and_delete_a_post(page, post)
    remove_a_reaction(page)
    export_everything(page, person)
    choose_mails(page, person)
    ask_for_the_erasure_and_cancel_it(page)
