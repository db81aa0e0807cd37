"""A fresh browser context for each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser import PATIENCE_MS
from tests.widget.sites import Site

# This file is imported before Django is set up, so it cannot import models.
if TYPE_CHECKING:
    from messaging.models import Account
    from tests.widget.live import Live


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1200, "height": 800}, reduced_motion="reduce", locale="en-GB")
    context.set_default_timeout(PATIENCE_MS)
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
    # Panels poll; tests of streams set the URL of a stream process.
    settings.STREAM_URL = None
    return Live(context, app, host, an_embed(trigger_config={"message": "Talk"}))


@pytest.fixture
def ada(live: Live) -> Account:
    """A person who can sign in with PASSWORD."""
    from tests.factories import PersonFactory
    from tests.widget.live import PASSWORD

    person: Account = PersonFactory(handle="ada", name="Ada Lovelace", password=PASSWORD)
    return person
