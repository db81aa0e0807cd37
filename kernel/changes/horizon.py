"""The horizon: where the readers of the change log stop (see `kernel.changes.reading`)."""

from __future__ import annotations

from kernel.changes.restored import IS_ELSEWHERE, adopt_log
from kernel.database.sql import fetch_all

# A statement of its own: its result must precede the snapshot of the statement that reads the rows.
HORIZON = f"SELECT changes_horizon(), {IS_ELSEWHERE} FROM changes_changelog"  # noqa: S608  a constant


def horizon() -> int:
    """The transaction id before which all rows can be read, by a later statement.

    A process that runs on after PostgreSQL was replaced finds that out here, and adopts the log.
    """
    ((result, is_elsewhere),) = fetch_all(HORIZON)
    if is_elsewhere:
        adopt_log()
    return int(result)
