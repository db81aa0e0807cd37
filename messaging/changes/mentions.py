"""Mentions: `@handle` in the text of a post, between characters that are no part of a word, in either case."""

from __future__ import annotations

import re
from collections.abc import Iterable
from uuid import UUID

from config.database.sql import fetch_all
from messaging.models.account import HANDLE_MAX, HANDLE_MIN

MENTIONS_MAX = 10
# Different handles of a text that are looked up; those of no account do not count as mentions.
LOOKUPS_MAX = 50
# Not `\w` with IGNORECASE: that also matches letters outside ASCII, such as the Kelvin sign.
MENTION = re.compile(rf"(?<!\w)@([A-Za-z0-9_]{{{HANDLE_MIN},{HANDLE_MAX}}})(?!\w)")
FIND = "SELECT handle, id FROM messaging_account WHERE handle = ANY(%s::varchar[])"


def mentioned_accounts(text: str) -> list[UUID]:
    """The first MENTIONS_MAX accounts that a text mentions, in its order. One query, and none without a handle."""
    handles = mentioned_handles(text) if "@" in text else []
    if not handles:
        return []
    accounts: dict[str, UUID] = dict(fetch_all(FIND, [handles]))
    return [accounts[handle] for handle in handles if handle in accounts][:MENTIONS_MAX]


def newly_mentioned_accounts(text: str, earlier: Iterable[str]) -> list[UUID]:
    """The accounts that a text mentions and no earlier version of it does: with those, at most MENTIONS_MAX."""
    known = {handle for version in earlier for handle in mentioned_handles(version)}
    handles = [handle for handle in mentioned_handles(text) if handle not in known]
    if not handles:
        return []
    accounts: dict[str, UUID] = dict(fetch_all(FIND, [[*known, *handles]]))
    room = MENTIONS_MAX - len(known & accounts.keys())
    return [accounts[handle] for handle in handles if handle in accounts][: max(room, 0)]


def mentioned_handles(text: str) -> list[str]:
    """The first LOOKUPS_MAX different handles."""
    found: dict[str, None] = {}
    for match in MENTION.finditer(text):
        found.setdefault(match[1].lower())
        if len(found) == LOOKUPS_MAX:
            break
    return list(found)
