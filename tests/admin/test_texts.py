"""What the pages of the admin say: no ids, no JSON and no absolute times, which people cannot read."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.test import Client

from agents.services import freeze_agent
from tests.admin.every_page import EveryPage

pytestmark = pytest.mark.django_db

# An element of `time` has the exact time in its title; a plot has days; what people typed may contain anything; and
# `code` marks an id that is shown to be copied.
NOT_READ = {"time", "svg", "figure", "textarea", "code", "script", "style", "template"}
UNREADABLE = {
    "id": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-", re.IGNORECASE),
    "JSON": re.compile(r"""[\[{]\s*["'{]|\{\}|\[\]"""),
    "absolute time": re.compile(r"\b20\d\d-\d\d-\d\d\b|\b[A-Z][a-z]{2,8}\.? \d{1,2}, 20\d\d\b"),
}


class Texts(HTMLParser):
    """The texts of a page, and the names of its elements for screen readers."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._skipped = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag in NOT_READ
        if not self._skipped:
            self.found += [value or "" for name, value in attrs if name in {"aria-label", "title", "placeholder"}]

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in NOT_READ

    def handle_data(self, data: str) -> None:
        if not self._skipped and data.strip():
            self.found.append(data.strip())


def unreadable_in(html: str) -> list[str]:
    return [
        f"{what}: {text[:120]}"
        for text in Texts(html).found
        for what, pattern in UNREADABLE.items()
        if pattern.search(text)
    ]


@pytest.mark.slow
def test_no_page_shows_an_id_or_json_or_an_absolute_time(admin_client: Client) -> None:
    every_page = EveryPage()
    freeze_agent(agent=every_page.holder.agent, by=every_page.boss, reason="Too loud.")
    found: dict[str, list[str]] = {}
    for path in every_page.paths():
        response = admin_client.get(path)
        if response.status_code == 200 and response["Content-Type"].startswith("text/html"):
            found[path] = unreadable_in(response.content.decode())
    assert {path: texts for path, texts in found.items() if texts} == {}
    assert len(found) > 100


def test_texts_are_found_unreadable() -> None:
    for text in (
        '{"map": []}',
        "{'new': 5}",
        "by @one on 2026-11-24 at",
        "Nov. 24, 2026",
        "of 01a2b3c4-0000-7000-8000-0",
    ):
        assert unreadable_in(f"<p>{text}</p>"), text
        assert not unreadable_in(f"<code>{text}</code>")
    assert not unreadable_in("<p>A post [hidden] of @one</p>")
