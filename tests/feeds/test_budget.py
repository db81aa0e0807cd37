"""A feed parses a bounded amount of Markdown. Further texts are shown as typed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from messaging.feeds.feed import Feed, feed_of_page, to_atom, to_json_feed
from messaging.feeds.queries import POSTS_MAX, FeedPost
from messaging.markdown import html
from messaging.markdown.html import UNITS_MAX, cost_of
from messaging.markdown.rules import RULES
from messaging.models.message import CONTENT_MAX

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
ID = UUID("0199f000-0000-7000-8000-000000000000")
# Texts that take a parser of Markdown much longer than prose of the same length.
STOPS = RULES.inline.terminator_re
DEAR = (
    "- a\n",
    "- - - - a\n",
    "1. a\n",
    "1. a\r",
    "a\r\r",
    "> a\n",
    "a\n\n",
    "*a_b*c_",
    "[a](http://b.c)",
    "- http://a.b\n",
    "*" * 9,
    "<",
    "&",
)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are parsed from now on."""
    texts: list[str] = []
    parse: Callable[[str], Any] = html.parse

    def noted(text: str) -> Any:
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(html, "parse", noted)
    html.rendered.cache_clear()
    return texts


def test_every_character_at_which_the_parser_stops_has_a_cost() -> None:
    assert [chr(code) for code in range(1, 0x10000) if STOPS.match(chr(code)) and not cost_of(chr(code))] == []


def feed_with(*texts: str) -> Feed:
    posts = [FeedPost(ID, text, False, NOW, NOW, "Ada", "https://example.com/a") for text in texts]
    return feed_of_page("p1_" + "a" * 32, "https://example.com/a", posts)


def long(mark: str, number: int) -> str:
    """A text of the greatest length, different for each number."""
    return (f"{number} " + mark * CONTENT_MAX)[:CONTENT_MAX]


@pytest.mark.parametrize("mark", DEAR)
@pytest.mark.parametrize("render", [to_atom, to_json_feed])
def test_the_marks_of_all_posts_together_are_bounded(
    mark: str, render: Callable[[Feed], bytes], parsed: list[str]
) -> None:
    render(feed_with(*(long(mark, number) for number in range(POSTS_MAX))))
    assert sum(map(cost_of, parsed)) <= UNITS_MAX


@pytest.mark.parametrize("mark", DEAR)
def test_many_short_posts_are_bounded_as_well(mark: str, parsed: list[str]) -> None:
    to_atom(feed_with(*(f"{number} {mark * 200}" for number in range(POSTS_MAX))))
    assert parsed
    assert sum(map(cost_of, parsed)) <= UNITS_MAX


def test_posts_of_usual_length_are_formatted_all_and_parsed_once(parsed: list[str]) -> None:
    text = "I **agree**.\n\n- One reason\n- Another, see https://example.com/a\n\n" + "Words follow words here. " * 20
    entries = feed_with(*(f"{number} {text}" for number in range(POSTS_MAX))).entries
    assert len(entries) == POSTS_MAX
    assert all("<strong>agree</strong>" in entry.html for entry in entries)
    assert all(entry.title.startswith(f"{number} I agree.") for number, entry in enumerate(entries))
    assert len(parsed) == POSTS_MAX


def test_a_text_for_which_no_room_is_left_is_shown_as_typed_and_cheaper_ones_are_formatted() -> None:
    first, second, third = feed_with("**One**", f"<b>\n1 {'- a' + chr(10)}" + "- a\n" * 1_200, "*three*").entries
    assert first.html == '<p dir="auto"><strong>One</strong></p>'
    assert second.html.startswith('<p dir="auto">&lt;b&gt;<br>1 - a<br>- a<br>')
    assert second.title.startswith("<b> 1 - a - a")
    assert third.html == '<p dir="auto"><em>three</em></p>'


def test_a_feed_is_the_same_each_time() -> None:
    """What a process has rendered before changes nothing: else the ETag would change with the process."""
    texts = [f"{number} " + "- a\n" * 300 for number in range(6)]
    before = to_atom(feed_with(*texts))
    for text in texts:
        html.to_html(text)
    assert to_atom(feed_with(*texts)) == before
