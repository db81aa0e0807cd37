"""Reads the log for the hub, in a thread with a database connection, after a check of the credentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.conf import settings
from django.utils.module_loading import import_string

from config.api.credentials import Credential
from config.changes import reading
from config.changes.channels import WholeLog
from config.changes.exceptions import CursorExpired
from config.changes.reading import Batch
from config.changes.rows import Cursor

READ_MAX = 500


class ReadResult(NamedTuple):
    """What one read has found. `is_blocked`: rows follow that cannot be read yet; `expired`: rows were missed."""

    batch: Batch
    is_blocked: bool = False
    expired: bool = False
    ended: Sequence[Credential] = ()


def read_log(after: Cursor | None, credentials: Sequence[Credential]) -> ReadResult:
    """The rows after a cursor; None: the cursor of now. If the check of the credentials fails, nothing is read."""
    ended = ended_credentials(credentials)
    if after is None:
        return ReadResult(Batch([], reading.now()), ended=ended)
    try:
        batch = reading.read(WholeLog(), after, limit=READ_MAX)
    except CursorExpired:
        return ReadResult(Batch([], reading.now()), expired=True, ended=ended)
    return ReadResult(batch, not batch.has_more and reading.is_followed(batch.next.position), ended=ended)


def ended_credentials(credentials: Sequence[Credential]) -> list[Credential]:
    """Those that are not valid any more, by the functions in the setting CREDENTIAL_CHECKS."""
    if not credentials:
        return []
    return [ended for path in settings.CREDENTIAL_CHECKS for ended in import_string(path)(credentials)]
