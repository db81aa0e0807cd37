"""Cursors of the change log: opaque, signed, and bound to their list and its filters, as those of other lists."""

from __future__ import annotations

import struct

from kernel.api.pagination import sign, verify
from kernel.changes.rows import Cursor, Position

# Generation, xid, id.
FORMAT = struct.Struct(">hqq")


def encode(cursor: Cursor, *, bound_to: str) -> str:
    """40 characters of base64url."""
    return sign(FORMAT.pack(cursor.generation, *cursor.position), bound_to=bound_to)


def decode(text: str, *, bound_to: str) -> Cursor:
    """Raises InvalidCursor (400) for any text that is not a cursor of this list."""
    generation, xid, row_id = FORMAT.unpack(verify(text, FORMAT.size, bound_to=bound_to))
    return Cursor(generation, Position(xid, row_id))
