"""Which reactions of our own exports can be restored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from moving.formats import Author
from moving.formats.own import BadLine, author_of, time_of
from moving.imports import texts
from reactions.emoji import one_emoji
from reactions.models import EMOJI_MAX
from reactions.services import EMOJI_KINDS_MAX


class UsableReaction(NamedTuple):
    author: Author
    kind: str
    emoji: str
    at: str


def usable(reactions: list[Any], kinds: set[str]) -> Iterator[UsableReaction]:
    """Those that createReaction would accept. `kinds`: the emoji of the post before them; theirs are added."""
    for value in reactions:
        reaction = _usable(value)
        if reaction is not None and len(kinds | {reaction.emoji}) <= EMOJI_KINDS_MAX:
            kinds.add(reaction.emoji)
            yield reaction


def _usable(value: Any) -> UsableReaction | None:
    if not isinstance(value, dict) or not isinstance(value.get("emoji"), str):
        return None
    emoji, at = one_emoji(value["emoji"][:EMOJI_MAX]), time_of(value.get("createdAt"))
    try:
        author = author_of(value.get("author"))
    except BadLine:
        return None
    if emoji is None or at is None or at < texts.EARLIEST:
        return None
    return UsableReaction(author, value["author"].get("kind"), emoji, at.isoformat())
