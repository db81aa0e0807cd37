"""Journeys in a browser: "Settings", an agent from its request to its first post, and a sign-in with every factor."""

from __future__ import annotations

import subprocess
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, Route, expect

from agents.models import AgentRequest
from agents.services import approve_request
from kernel.jobs.queue import run_due
from mails.kinds import Frequency, Kind
from mails.preferences import preferences_of
from messaging.models import Account, Message, PersonErasure, SignIn
from reactions.models import Reaction
from tests.account_area.conftest import sign_in
from tests.account_area.looks import check_in_turn
from tests.account_area.second_factors import age, code_of
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ME = "/account/me/"
PASSWORD = "correct horse battery"
LONG_WORD = "Donaudampfschifffahrtsgesellschaft" * 8
PASSPHRASE = "a long enough passphrase"


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
    check_in_turn(page)
    page.get_by_label("Name", exact=True).fill("a\u202eb")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".errorlist")).to_be_visible()
    check_in_turn(page)
    page.get_by_label("Name", exact=True).fill("Ada Byron")
    page.get_by_role("button", name="Save").click()
    said(page, "Saved.")
    person.refresh_from_db()
    assert person.name == "Ada Byron"


def edit_and_delete_a_post(page: Page, post: Message) -> None:
    from_myself(page, "Your posts")
    check_in_turn(page)
    page.get_by_role("link", name="Edit").click()
    heading(page, "Edit the post")
    check_in_turn(page)
    page.get_by_label("Text").fill("The ferry leaves at ten.")
    page.get_by_role("button", name="Save").click()
    said(page, "Saved.")
    expect(page.get_by_text("The ferry leaves at ten.")).to_be_visible()
    page.get_by_role("link", name="Delete").click()
    heading(page, "Delete the post?")
    check_in_turn(page)
    page.get_by_role("button", name="Delete").click()
    said(page, "The post is deleted.")
    check_in_turn(page)
    post.refresh_from_db()
    assert post.status == "deleted"


def remove_a_reaction(page: Page) -> None:
    from_myself(page, "Your reactions")
    check_in_turn(page)
    page.get_by_role("button", name="Remove").click()
    said(page, "The reaction is removed.")
    check_in_turn(page)
    assert not Reaction.objects.exists()


def check_the_waiting_export(page: Page) -> None:
    """Open a page of its own, without the header that loads it again: axe needs a page that stays."""

    def without_refresh(route: Route) -> None:
        response = route.fetch()
        assert response.headers["refresh"] == "3"
        headers = {name: value for name, value in response.headers.items() if name != "refresh"}
        route.fulfill(response=response, headers=headers)

    staying = page.context.new_page()
    staying.route("**/account/me/export/", without_refresh)
    staying.goto(f"{ME}export/")
    expect(staying.get_by_role("progressbar")).to_be_visible()
    check_in_turn(staying)
    staying.close()


def export_everything(page: Page, person: Account) -> None:
    from_myself(page, "Export your data")
    check_in_turn(page)
    page.get_by_role("button", name="Make an export").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    check_the_waiting_export(page)
    run_due("exports")
    # The page loads itself again until the export is ready.
    link = page.get_by_role("link", name="Download")
    expect(link).to_be_visible()
    check_in_turn(page)
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename.startswith(f"{person.handle}-")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert b"Ada Byron" in archive.read("export/index.html")


def choose_mails(page: Page, person: Account) -> None:
    page.goto(f"{ME}mails/")
    check_in_turn(page)
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
    check_in_turn(page)
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Erase my account").click()
    heading(page, "Your account will be erased")
    check_in_turn(page)
    assert PersonErasure.objects.get().posts == "deleted"
    page.get_by_role("button", name="Cancel the erasure").click()
    said(page, "Your account stays.")
    assert not PersonErasure.objects.exists()


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


def check_and_weigh(page: Page) -> None:
    check_in_turn(page)
    assert len(page.content()) < 100_000


def press(page: Page, name: str) -> None:
    """Go on with the Tab key to the element with this text, and press Enter."""
    for _ in range(60):
        if name in page.evaluate(
            "document.activeElement.matches('a, button') && document.activeElement.textContent || ''"
        ):
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way to {name!r} with the keyboard")


def ask(page: Page) -> None:
    press(page, "Ask for an agent")
    page.locator("[name=agent_name]").wait_for()
    page.locator("[name=agent_name]").focus()
    page.keyboard.type("Taken Handle")
    # Sends the form, which is not complete.
    page.evaluate("window.opened = true")
    page.keyboard.press("Enter")
    expect(page.locator(":invalid:focus")).to_have_count(1)
    assert page.evaluate("window.opened")
    page.locator("[name=agent_name]").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#handle-result")).to_have_text("This handle is already in use. Choose another one.")
    page.keyboard.type("library_helper")
    expect(page.locator("#handle-result")).to_have_text("This handle is free.")
    page.keyboard.press("Tab")
    page.keyboard.type("Answers questions about our books.")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.get_by_placeholder("Find a community by its name").focus()
    page.keyboard.type("garden")
    box = page.get_by_label("Garden friends")
    box.focus()
    page.keyboard.press("Space")
    check_and_weigh(page)
    press(page, "Send the request")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Taken Handle")
    check_and_weigh(page)


@pytest.mark.journey
def test_a_person_asks_for_an_agent_and_its_first_post_is_written(
    browser_context: BrowserContext, live_server: Any, settings: Any
) -> None:
    settings.BASE_URL = live_server.url
    person, community = PersonFactory(), CommunityFactory(name="Garden friends")
    CommunityFactory.create_batch(13)
    PersonFactory(handle="taken_handle")
    sign_in(browser_context, live_server.url, person)
    page = browser_context.new_page()
    page.goto("/account/agents/")
    check_and_weigh(page)
    ask(page)

    asked = AgentRequest.objects.get()
    assert (asked.agent_handle, asked.community_ids) == ("library_helper", [community.pk])
    approve_request(request_id=asked.pk, by=SuperAdminFactory(), reason="Welcome.")
    page.reload()
    press(page, "Create a token")
    page.locator("[name=label]").wait_for()
    check_and_weigh(page)
    press(page, "Create the token")
    token = page.locator("#token")
    token.wait_for()
    value = token.inner_text().strip()
    # A script of the page writes the token into the commands.
    expect(page.locator("details[open] code")).to_contain_text(value)
    command = page.locator("details[open] code").inner_text()
    check_and_weigh(page)
    sent = subprocess.run(command, shell=True, capture_output=True, timeout=PATIENCE_SECONDS, check=True)
    post = Message.objects.get()
    assert (post.author.handle, post.community_id) == ("library_helper", community.pk), sent

    page.goto(reverse("account_agent", args=["library_helper"]))
    expect(page.get_by_text("Hello from an agent.")).to_be_visible()
    expect(page.get_by_text("29 of 30")).to_be_visible()
    check_and_weigh(page)
    for name in ("account_agent_tokens", "account_agent_webhooks"):
        page.goto(reverse(name, args=["library_helper"]))
        check_and_weigh(page)
    page.goto(reverse("account_inbox"))
    expect(page.get_by_text("The request for @library_helper is approved")).to_be_visible()
    check_and_weigh(page)
    press(page, "Mark all as read")
    expect(page.locator(".count")).to_have_count(0)


def add_passkey_device(context: BrowserContext, page: Page) -> None:
    """A device that verifies its person by itself."""
    devices: Any = context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def confirm_with_the_passkey(page: Page, url: str) -> None:
    """Open a page for which the sign-in is too old."""
    client = Client()
    client.cookies.load({cookie["name"]: cookie["value"] for cookie in page.context.cookies()})
    age(client)
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm that it is you")
    check_in_turn(page)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(url)


def test_a_person_signs_up_and_in_with_every_factor(browser_context: BrowserContext, live_server: Any) -> None:
    # Passkeys belong to names of hosts.
    origin = live_server.url.replace("127.0.0.1", "localhost")
    page = browser_context.new_page()
    add_passkey_device(browser_context, page)
    page.goto(f"{origin}/account/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    check_in_turn(page)
    page.get_by_role("link", name="Create an account").click()
    check_in_turn(page)
    page.get_by_label("Handle", exact=True).focus()
    for text in ("ada_l", "Ada Lovelace", PASSPHRASE):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{origin}/account/")
    page.goto(f"{origin}/account/me/security/")
    check_in_turn(page)
    page.get_by_role("link", name="Set up").click()
    check_in_turn(page)
    secret = page.locator("pre code").inner_text()
    page.get_by_label("Code", exact=True).fill(code_of(secret))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Recovery codes")
    check_in_turn(page)
    recovery = page.locator("pre code").inner_text().split()
    page.get_by_role("link", name="Done").click()
    page.get_by_role("link", name="Add a passkey").click()
    check_in_turn(page)
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign-in and security")
    expect(page.get_by_text("Passkey", exact=True).first).to_be_visible()
    check_in_turn(page)
    page.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(f"{origin}/account/")
    page.context.clear_cookies()
    page.goto(f"{origin}/account/sign-in/?next=/account/me/security/")
    page.get_by_label("Handle or mail address").fill("ada_l")
    page.get_by_label("Password", exact=True).fill(PASSPHRASE)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Second step")
    check_in_turn(page)
    page.get_by_label("Code", exact=True).fill(recovery[0])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign-in and security")
    confirm_with_the_passkey(page, f"{origin}/account/me/address/")
    logged = SignIn.objects.order_by("id").values_list("first", "second", "refused")
    assert list(logged) == [
        ("password", "", False),
        ("passkey", "", False),
        ("password", "recovery_code", False),
    ]
