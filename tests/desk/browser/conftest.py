"""A super admin at the desk, on a phone unless a test asks for a wide screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser import PATIENCE_MS
from tests.desk.browser.using import PHONE

# Django is set up after the import of this file, so it cannot import models.
if TYPE_CHECKING:
    from messaging.models import Account


@pytest.fixture
def boss(transactional_db: Any) -> Account:
    from tests.factories import SuperAdminFactory

    account: Account = SuperAdminFactory(handle="the_boss")
    return account


@pytest.fixture
def context(request: Any, browser: Browser, live_server: Any, boss: Account) -> Iterator[BrowserContext]:
    """It has the session of the super admin. `request.param` is the size of a screen without touch."""
    size: Any = getattr(request, "param", PHONE)
    client = Client()
    client.force_login(boss)
    name = settings.SESSION_COOKIE_NAME
    context = browser.new_context(base_url=live_server.url, locale="en-GB", viewport=size, has_touch=size == PHONE)
    context.set_default_timeout(PATIENCE_MS)
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])
    yield context
    context.close()


@pytest.fixture
def console(context: BrowserContext) -> list[str]:
    """The errors in the console, which fail a test that does not remove them."""
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    return errors


@pytest.fixture
def page(context: BrowserContext, console: list[str]) -> Iterator[Page]:
    yield context.new_page()
    assert console == []
