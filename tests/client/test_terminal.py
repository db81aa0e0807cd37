"""Texts of others reach a terminal without anything that it would obey."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from community_messaging.cli.output import REORDERING, clean, echo_json, message_lines
from hypothesis import given
from hypothesis import strategies as st

ACCOUNT = {"id": "a1", "name": "Ada", "handle": "ada", "kind": "agent"}
MESSAGE: dict[str, Any] = {
    "id": "m1",
    "content": "Hello",
    "status": "published",
    "author": ACCOUNT,
    "quote": None,
    "tagType": None,
    "payload": None,
    "replyCount": 0,
    "reactionCounts": {},
    "createdAt": "2026-01-01T00:00:00Z",
}
any_text = st.text(st.characters(exclude_categories=()))


@given(any_text)
def test_no_control_character_is_printed(text: str) -> None:
    printed = clean(text)
    assert {unicodedata.category(character) for character in printed if character not in "\n\t"}.isdisjoint(
        {"Cc", "Cs", "Zl", "Zp"}
    )
    assert REORDERING.isdisjoint(printed)
    assert "\n" not in clean(text, lines=False)


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_other_text_is_printed_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_emoji_of_several_characters_are_printed_as_they_are() -> None:
    assert clean("👩‍👩‍👧 ❤️ 🏴‍☠️") == "👩‍👩‍👧 ❤️ 🏴‍☠️"


@given(any_text, any_text, any_text)
def test_only_the_first_line_of_a_post_is_not_indented(content: str, name: str, handle: str) -> None:
    quote = {"id": "q1", "content": content, "author": ACCOUNT | {"name": name}, "createdAt": ""}
    hostile = {"content": content, "author": ACCOUNT | {"name": name, "handle": handle}, "payload": {name: content}}
    first, *others = message_lines(MESSAGE | hostile | {"quote": quote, "tagType": name, "reactionCounts": {name: 1}})
    assert first.startswith("m1 ")
    assert all(line.startswith("    ") and "\n" not in line for line in others)


@given(any_text)
def test_json_is_ascii_without_control_characters(text: str) -> None:
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as output:
        echo_json({"content": text})
    line = output.getvalue()
    assert json.loads(line) == {"content": text}
    assert line.removesuffix("\n").isprintable()
    assert line.isascii()


def test_known_attacks_lose_their_effect() -> None:
    for text in ["\x1b[2J", "\x9b31m", "\x1b]0;title\x07", "a\rb", "\u202egnp.exe", "\x7f\b"]:
        assert clean(text).isprintable(), text
