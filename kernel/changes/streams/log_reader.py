"""Reads the log in a thread with a database connection: for the hub, which also checks credentials, and for streams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from django.conf import settings
from django.utils.module_loading import import_string

from kernel.api.credentials import Credential
from kernel.changes import reading
from kernel.changes.channels import Channel, WholeLog
from kernel.changes.exceptions import CursorExpired
from kernel.changes.reading import Batch
from kernel.changes.rows import Cursor

READ_MAX = 500


class ReadResult(NamedTuple):
    """What one read has found. `is_blocked`: rows follow that cannot be read yet; `expired`: rows were missed.

    `moved`: the earlier ids of pages that were moved. Streams of these do not get the rows.
    """

    batch: Batch
    is_blocked: bool = False
    expired: bool = False
    ended: Sequence[Credential] = ()
    moved: Set[str] = frozenset()


class PageMoved(Exception):
    """The page of a channel was moved: its rows are those of a page with another id."""


def read_log(after: Cursor | None, credentials: Sequence[Credential]) -> ReadResult:
    """The rows after a cursor; None: the cursor of now. If the check of the credentials fails, nothing is read."""
    ended = ended_credentials(credentials)
    if after is None:
        return ReadResult(Batch([], reading.now()), ended=ended)
    try:
        batch = reading.read(WholeLog(), after, limit=READ_MAX)
    except CursorExpired:
        return ReadResult(Batch([], reading.now()), expired=True, ended=ended)
    is_blocked = not batch.has_more and reading.is_followed(batch.next.position)
    # After the rows were read: a move changes the page of rows in its transaction.
    return ReadResult(batch, is_blocked, ended=ended, moved=_moved(row.page_id for row in batch.rows))


def read_channel(channel: Channel, after: Cursor, *, limit: int) -> Batch:
    """The rows of a channel after a cursor. Raises CursorExpired (410), and PageMoved: some may be missing."""
    batch = reading.read(channel, after, limit=limit)
    if channel.page_id in _moved([channel.page_id]):
        raise PageMoved
    return batch


def ended_credentials(credentials: Sequence[Credential]) -> list[Credential]:
    """Those that are not valid any more, by the functions in the setting CREDENTIAL_CHECKS."""
    if not credentials:
        return []
    return [ended for path in settings.CREDENTIAL_CHECKS for ended in import_string(path)(credentials)]


def _moved(page_ids: Iterable[str | None]) -> Set[str]:
    """By the function in the setting MOVED_PAGES."""
    known = {page_id for page_id in page_ids if page_id is not None}
    moved: Set[str] = import_string(settings.MOVED_PAGES)(known) if known else frozenset()
    return moved
