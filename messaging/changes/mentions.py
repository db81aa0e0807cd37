"""Mentions: `@handle` in the text of a post outside of code, links and addresses, in either case.

A handle is of ASCII characters, so a letter of any other script is no part of it: most of them write no space there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from uuid import UUID

from kernel.database.sql import fetch_all
from messaging.markdown.reading import text_nodes
from messaging.models.account import HANDLE_MAX, HANDLE_MIN

MENTIONS_MAX = 10
# Different handles of a text that are looked up; those of no account do not count as mentions.
LOOKUPS_MAX = 50
# static/embed/panel/markdown.js has the same rule. Keyboards of Chinese and Japanese type the wide sign.
SIGNS = "@\uff20"
MENTION = re.compile(rf"(?<!\w)[{SIGNS}](\w{{{HANDLE_MIN},{HANDLE_MAX}}})(?!\w)", re.ASCII)
FIND = "SELECT handle, id FROM messaging_account WHERE handle = ANY(%s::varchar[])"


def mentioned_accounts(text: str) -> list[UUID]:
    """The first MENTIONS_MAX accounts that a text mentions, in its order. One query, and none without a handle."""
    handles = mentioned_handles(text)
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
    for handle in mentions(text):
        found.setdefault(handle)
        if len(found) == LOOKUPS_MAX:
            break
    return list(found)


def mentions(text: str) -> Iterator[str]:
    """Every handle, in the order of the text, which is parsed only if it has a sign."""
    if any(sign in text for sign in SIGNS):
        for part in text_nodes(text):
            yield from (match[1].lower() for match in MENTION.finditer(part))
