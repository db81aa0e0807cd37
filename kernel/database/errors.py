"""Errors of PostgreSQL, and of a full disk, in one line.

Nothing here needs Django's settings: `manage.py` reports that one is missing.
"""

from __future__ import annotations

import errno

# Of a file, and of what PostgreSQL answers.
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
DISK_FULL_STATE = "53100"


def first_line(error: BaseException) -> str:
    """Errors of PostgreSQL have several lines."""
    return str(error).strip().partition("\n")[0]


def full_disk(error: BaseException | None) -> str:
    """What to do, in one sentence, if the error or one that has caused it tells of a full disk; else empty."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            where = f" under {error.filename}" if error.filename else ""
            return f"The disk{where} is full: free some space on it, then run the same command again."
        if getattr(error, "sqlstate", None) == DISK_FULL_STATE:
            return "The disk of PostgreSQL is full: free some space on it, then run the same command again."
        error = error.__cause__ or error.__context__
    return ""
