"""In a browser: a person signs up, sets up second factors, and signs in again with each of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import BrowserContext, Page, expect

from messaging.models import SignIn
from tests.account_area.second_factors import age, code_of
from tests.widget.test_accessibility import violations_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a long enough passphrase"
PICTURES = os.environ.get("PICTURES")


def look(page: Page, name: str) -> None:
    """No violation at any width, in light and dark; and a picture where PICTURES names a folder."""
    assert violations_of(page) == [], name
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
            if PICTURES:
                page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{scheme}.png", full_page=True)


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
    look(page, "confirm")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(url)


def test_a_person_signs_up_and_in_with_every_factor(browser_context: BrowserContext, live_server: Any) -> None:
    # Passkeys belong to names of hosts.
    origin = live_server.url.replace("127.0.0.1", "localhost")
    page = browser_context.new_page()
    add_passkey_device(browser_context, page)
    page.goto(f"{origin}/account/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    look(page, "sign-in")
    page.get_by_role("link", name="Create an account").click()
    look(page, "sign-up")
    page.get_by_label("Handle", exact=True).focus()
    for text in ("ada_l", "Ada Lovelace", PASSWORD):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{origin}/account/")
    page.goto(f"{origin}/account/me/security/")
    look(page, "security-new")
    page.get_by_role("link", name="Set up").click()
    look(page, "app")
    secret = page.locator("pre code").inner_text()
    page.get_by_label("Code", exact=True).fill(code_of(secret))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Recovery codes")
    look(page, "codes")
    recovery = page.locator("pre code").inner_text().split()
    page.get_by_role("link", name="Done").click()
    page.get_by_role("link", name="Add a passkey").click()
    look(page, "passkey")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign-in and security")
    expect(page.get_by_text("Passkey", exact=True).first).to_be_visible()
    look(page, "security")
    page.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(f"{origin}/account/")
    page.context.clear_cookies()
    page.goto(f"{origin}/account/sign-in/?next=/account/me/security/")
    page.get_by_label("Handle or mail address").fill("ada_l")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Second step")
    look(page, "second-step")
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
