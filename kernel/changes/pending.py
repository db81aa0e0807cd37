"""Finds, for many readers at once, those that have rows of the change log to read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from kernel.changes.channels import Channel
from kernel.changes.horizon import horizon
from kernel.changes.reading import IS_EXPIRED, LOG
from kernel.changes.rows import Cursor, Position
from kernel.database.sql import fetch_all

Key = TypeVar("Key", bound=Hashable)
# A reader whose cursor has expired is found too: reading raises CursorExpired for it.
FIND = f"""
SELECT log.generation, log.xid, log.id, reader.number
FROM {LOG} LEFT JOIN unnest(
    %(numbers)s::int[], %(accounts)s::uuid[], %(communities)s::uuid[], %(generations)s::smallint[], %(xids)s::bigint[],
    %(ids)s::bigint[]
) AS reader(number, account_id, community_id, generation, xid, id) ON
    {IS_EXPIRED}
    OR EXISTS (
        SELECT FROM changes_change change
        WHERE change.account_id = reader.account_id
            AND (change.xid, change.id) > (reader.xid, reader.id) AND change.xid < %(horizon)s
    )
    OR EXISTS (
        SELECT FROM changes_change change
        WHERE change.community_id = reader.community_id AND change.account_id IS NULL
            AND (change.xid, change.id) > (reader.xid, reader.id) AND change.xid < %(horizon)s
    )
"""  # noqa: S608  only constants


@dataclass(frozen=True, slots=True)
class Pending(Generic[Key]):
    """The readers that have something to read. `now` is the cursor at which the others may go on."""

    keys: frozenset[Key]
    now: Cursor


def find_pending(readers: Mapping[Key, tuple[Channel, Cursor]]) -> Pending[Key]:
    """`readers`: their channels, each an account or a community, and cursors. Types are not considered."""
    keys, channels, cursors = list(readers), [], []
    for channel, cursor in readers.values():
        channels.append(channel)
        cursors.append(cursor)
    values = {
        "numbers": list(range(len(keys))),
        "accounts": [channel.account_id for channel in channels],
        "communities": [channel.community_id for channel in channels],
        "generations": [cursor.generation for cursor in cursors],
        "xids": [cursor.position.xid for cursor in cursors],
        "ids": [cursor.position.id for cursor in cursors],
        "horizon": horizon(),
    }
    rows = fetch_all(FIND, values)
    found = frozenset(keys[number] for *_now, number in rows if number is not None)
    generation, *newest, _number = rows[0]
    return Pending(found, Cursor(generation, Position(*newest)))
