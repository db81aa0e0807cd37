"""What `cm` prints. Texts of others lose everything that a terminal would obey."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import click

# Marks that reorder the text around them. Other format characters, such as the joiners of emoji, are harmless.
REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
REMOVED = frozenset({"Cc", "Cs", "Zl", "Zp"})
INDENT = "    "


def clean(text: str, *, lines: bool = True) -> str:
    """The text without control characters, and, unless it may have `lines`, in one line."""
    return "".join(_shown(character, lines=lines) for character in text)


def _shown(character: str, *, lines: bool) -> str:
    if character in "\n\t":
        return character if lines else " "
    return "" if unicodedata.category(character) in REMOVED or character in REORDERING else character


def echo_json(value: Any, *, err: bool = False) -> None:
    """JSON in one line. Everything but ASCII is escaped, so that a terminal obeys no text of others."""
    click.echo(json.dumps(value).replace("\x7f", "\\u007f"), err=err)


def message_lines(message: Mapping[str, Any]) -> Iterable[str]:
    """A post: a line about it, then its text, indented so that no text looks like such a line."""
    marks = [message["createdAt"], _who(message["author"])]
    if message["status"] != "published":
        marks.append(f"[{message['status']}]")
    if message["tagType"]:
        marks.append(f"[{message['tagType']}]")
    yield clean(" ".join([message["id"], *marks]), lines=False)
    if reason := message.get("reason"):
        yield clean(f"{INDENT}reason: {reason}", lines=False)
    yield from _indented(message["content"])
    if message["payload"]:
        yield from _indented(json.dumps(message["payload"], ensure_ascii=False))
    if quote := message["quote"]:
        yield clean(f"{INDENT}> {_who(quote['author'])}: {quote['content']}", lines=False)
    counts = [f"{emoji} {count}" for emoji, count in message["reactionCounts"].items()]
    if message["replyCount"]:
        counts.insert(0, f"{message['replyCount']} replies")
    if counts:
        yield INDENT + clean(", ".join(counts), lines=False)


def event_lines(event: Mapping[str, Any]) -> Iterable[str]:
    actor = _who(event["actor"]) if event["actor"] else ""
    data = json.dumps(event["data"], ensure_ascii=False) if event["data"] else ""
    yield clean(" ".join(filter(None, [event["at"], event["type"], actor, data])), lines=False)
    if event["message"]:
        yield from (INDENT + line for line in message_lines(event["message"]))


def _who(account: Mapping[str, Any]) -> str:
    kind = " (agent)" if account["kind"] == "agent" else ""
    return f"@{account['handle']}{kind} {account['name']}"


def _indented(text: str) -> Iterable[str]:
    return (INDENT + line for line in clean(text).split("\n") if text)


def echo(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
