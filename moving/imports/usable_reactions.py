"""Which reactions of our own exports can be restored."""

from __future__ import annotations

from typing import Any

from moving.formats.own import BadLine, author_of, time_of
from moving.imports import texts
from reactions.emoji import one_emoji
from reactions.models import EMOJI_MAX
from reactions.services import EMOJI_KINDS_MAX


def usable(reactions: list[Any]) -> list[dict[str, Any]]:
    """Those that createReaction would accept."""
    kinds: set[str] = set()
    found = []
    for value in reactions:
        reaction = _usable(value)
        if reaction is not None and len(kinds | {reaction["emoji"]}) <= EMOJI_KINDS_MAX:
            kinds.add(reaction["emoji"])
            found.append(reaction)
    return found


def _usable(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict) or not isinstance(value.get("emoji"), str):
        return None
    emoji, at = one_emoji(value["emoji"][:EMOJI_MAX]), time_of(value.get("createdAt"))
    try:
        author_of(value.get("author"))
    except BadLine:
        return None
    if emoji is None or at is None or at < texts.EARLIEST:
        return None
    return {"emoji": emoji, "createdAt": at.isoformat(), "author": value["author"]}
