"""One Chromium for all browser tests, a fresh context for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.widget.sites import Site

# Models cannot be imported before Django is set up, which is later than this file.
if TYPE_CHECKING:
    from messaging.models import Account
    from tests.widget.live import Live

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page that a test answers itself counts as one of the internet, which may not call this machine unasked.
    "--disable-features=LocalNetworkAccessChecks",
]


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    # Playwright runs an event loop in this thread, which Django would take for asynchronous code of ours.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1200, "height": 800}, reduced_motion="reduce", locale="en-GB")
    context.set_default_timeout(5000)
    yield context
    context.close()


@pytest.fixture
def site(context: BrowserContext) -> Site:
    return Site(context)


@pytest.fixture
def live(live_server: Any, context: BrowserContext, settings: Any) -> Live:
    from tests.embeds.making import an_embed
    from tests.widget.live import Live

    host = live_server.url
    settings.APP_URL = settings.BASE_URL = app = host.replace("localhost", "127.0.0.1")
    return Live(context, app, host, an_embed(trigger_config={"message": "Talk"}))


@pytest.fixture
def ada(live: Live) -> Account:
    """A person who can sign in with PASSWORD."""
    from tests.factories import PersonFactory
    from tests.widget.live import PASSWORD

    person: Account = PersonFactory(handle="ada", name="Ada Lovelace", password=PASSWORD)
    return person
