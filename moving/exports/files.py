"""Writes an export to a file that is complete or not there.

An export as the body of a response. How many are sent at a time, and for how long, is bounded.
"""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID

from moving.exceptions import ExportBusy
from moving.exports.exporting import parts_of
from moving.exports.reading import Reader, Scope, Snapshot, open_snapshot


def write_file(path: Path, parts: Iterable[bytes]) -> None:
    """Under another name first. A name that ends in `.gz` is compressed. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # Only the user of the service reads it, as a pending post is not public.
        with open(draft, "xb", opener=_private) as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6) as out:
                    out.writelines(parts)
            else:
                raw.writelines(parts)
            raw.flush()
            os.fsync(raw.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


# In the whole service: each holds a thread of a worker and a connection.
DOWNLOADS_MAX = 2
# Who has not got all after so long gets a file that is cut off.
SECONDS_MAX = 1_800
# Of a statement, and of a client that reads nothing meanwhile.
STATEMENT_SECONDS, IDLE_SECONDS = 120, 60
# Released with the transaction of the snapshot.
TAKE = "SELECT pg_try_advisory_xact_lock(hashtextextended('export ' || %s::text, 0))"


class Download:
    """Parts of a file. `close` ends the transaction; a server calls it when the client has gone."""

    def __init__(self, scope: Scope, format: str, *, account_id: UUID) -> None:
        """Raises ExportBusy (429) while the account gets another export, or others get as many as are allowed."""
        with ExitStack() as stack:
            limits = {"statement_seconds": STATEMENT_SECONDS, "idle_seconds": IDLE_SECONDS}
            snapshot = stack.enter_context(open_snapshot(**limits))
            _take_place(snapshot, account_id)
            self._parts = parts_of(Reader(snapshot, scope), format)
            # An error while the posts are sorted becomes a page.
            self._first = next(self._parts)
            self._stack = stack.pop_all()
        self._deadline = time.monotonic() + SECONDS_MAX

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield self._first
            for part in self._parts:
                yield part
                if time.monotonic() > self._deadline:
                    return
        finally:
            self.close()

    def close(self) -> None:
        # First the cursor, then its connection.
        self._parts.close()
        self._stack.close()


def _take_place(snapshot: Snapshot, account_id: UUID) -> None:
    places = (f"place {number}" for number in range(DOWNLOADS_MAX))
    if not _is_taken(snapshot, str(account_id)) or not any(_is_taken(snapshot, place) for place in places):
        raise ExportBusy


def _is_taken(snapshot: Snapshot, place: str) -> bool:
    ((is_taken,),) = snapshot.all(TAKE, [place])
    return bool(is_taken)
