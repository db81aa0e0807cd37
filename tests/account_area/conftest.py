from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.test import Client

from tests.admin.bystanders import unchanged
from tests.browser import PATIENCE_MS

# Django is set up after the import of this file, so it cannot import models.
if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

    from messaging.models import Account

__all__ = ["unchanged"]


@pytest.fixture
def person(db: Any) -> Account:
    from tests.factories import PersonFactory

    account: Account = PersonFactory()
    return account


@pytest.fixture
def client(person: Account) -> Client:
    """A client with the session of `person`."""
    client = Client()
    client.force_login(person)
    return client


def sign_in(context: BrowserContext, origin: str, account: Account) -> None:
    """Give a browser a session of the account on `origin`."""
    client = Client()
    client.force_login(account)
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": origin}])


@pytest.fixture
def browser_context(browser: Browser, live_server: Any, request: Any) -> Iterator[BrowserContext]:
    """A context of the size `request.param` (default: 390 by 844). An error in its console fails the test."""
    size: Any = getattr(request, "param", {"width": 390, "height": 844})
    context = browser.new_context(viewport=size, base_url=live_server.url, locale="en-GB")
    context.set_default_timeout(PATIENCE_MS)
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield context
    context.close()
    assert not errors
