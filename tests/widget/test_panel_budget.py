"""The limits of what the panel costs a reader: bytes and requests."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from playwright.sync_api import Request

from messaging.models import Account
from tests.widget.live import Live

STATIC = Path(__file__).resolve().parent.parent.parent / "static" / "embed"
GZIPPED_MAX = 45 * 1024
LINES_MAX = 220


def test_gzipped_scripts_and_styles_are_at_most_45_kilobytes() -> None:
    files = [*(STATIC / "panel").glob("*.js"), STATIC / "base.css", STATIC / "panel.css"]
    assert sum(len(gzip.compress(file.read_bytes(), 9)) for file in files) <= GZIPPED_MAX


def test_modules_have_at_most_220_lines() -> None:
    assert [
        file.name for file in (STATIC / "panel").glob("*.js") if len(file.read_text().splitlines()) > LINES_MAX
    ] == []


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_panel_sends_four_api_requests_and_none_to_other_origins(live: Live, ada: Account) -> None:
    for n in range(20):
        post = live.message(
            content=f"Post {n}", attachments=[{"type": "image/png", "url": "https://example.org/a.png"}]
        )
        live.message(content="Reply", parent=post)
    live.signed_in(ada)
    requests: list[Request] = []
    # Playwright cannot register a built-in method as a listener.
    live.context.on("request", lambda request: requests.append(request))  # noqa: PLW0108
    live.follow()
    panel = [request for request in requests if request.frame.parent_frame]
    assert [request.url for request in panel if not request.url.startswith(live.app)] == []
    api = [
        f"{request.method} {request.url.removeprefix(live.app).split('?')[0]}"
        for request in panel
        if request.resource_type == "fetch"
    ]
    assert api == [
        "POST /v1/presence/normalize-url",
        "GET /v1/changes",
        "GET /api/messages",
        "GET /api/messages",
    ]
    assert live.context.cookies() == []
