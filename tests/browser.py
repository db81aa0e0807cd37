"""A Chromium that stays on this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

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


_loops: list[asyncio.AbstractEventLoop | None] = [None]


@contextmanager
def running_browser(program: str) -> Iterator[Browser]:
    # Playwright runs an event loop in this thread, which Django would take for asynchronous code of ours.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        _loops.append(asyncio.get_running_loop())
        yield browser
        show_loop(to_this_test=True)
        _loops.pop()
        browser.close()


def show_loop(*, to_this_test: bool) -> None:
    """Playwright leaves its loop running between calls, and where a loop runs Django keeps another connection.

    A test without a browser must see neither, whichever tests ran before it.
    """
    asyncio._set_running_loop(_loops[-1] if to_this_test else None)
