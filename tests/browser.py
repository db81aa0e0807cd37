"""A Chromium without background network traffic."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, connections
from playwright.sync_api import Browser, expect, sync_playwright

from kernel.database import sql

# How long a test waits for an element on a busy machine.
PATIENCE_MS = 60_000
DISABLED_FEATURES = [
    # Chromium treats a page that a test serves by interception as public, which may not call local addresses.
    "LocalNetworkAccessChecks",
    # Each window would start a renderer for the suggestions of its address bar, which takes as long as a test.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=" + ",".join(DISABLED_FEATURES),
]


_loops: list[asyncio.AbstractEventLoop | None] = [None]


@contextmanager
def running_browser(program: str) -> Iterator[Browser]:
    # Playwright runs an event loop in this thread; Django would refuse synchronous database access.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        _loops.append(asyncio.get_running_loop())
        yield browser
        show_loop(to_this_test=True)
        _loops.pop()
        browser.close()


def show_loop(*, to_this_test: bool) -> None:
    """Show or hide Playwright's event loop, which runs between its calls.

    Django uses another database connection in a thread with a running loop, so tests without a browser hide it. The
    statements of `kernel.database.sql` run on the same one.
    """
    asyncio._set_running_loop(_loops[-1] if to_this_test else None)
    sql._here.database = connections[DEFAULT_DB_ALIAS]
