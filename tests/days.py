"""Days, asked for when a test runs: a run may go on past midnight."""

from __future__ import annotations

from datetime import date

from kernel.database.sql import database_now


def today() -> date:
    """The day in UTC, by the clock of the database."""
    return database_now().date()
