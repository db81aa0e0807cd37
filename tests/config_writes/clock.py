"""A replacement of PostgreSQL's clock, which the hourly limits read, that tests can set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db import connection

# A schema before pg_catalog in the search path hides the built-in clock, in this transaction only.
SET_UP = (
    "CREATE SCHEMA fixed",
    "CREATE TABLE fixed.clock AS SELECT timestamptz '2026-01-01T00:00:00Z' AS now",
    "CREATE FUNCTION fixed.clock_timestamp() RETURNS timestamptz VOLATILE RETURN (SELECT now FROM fixed.clock)",
    "SET LOCAL search_path = fixed, pg_catalog, public",
)


class DatabaseClock:
    """A clock that only `advance` changes, until the current transaction rolls back."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        with connection.cursor() as cursor:
            for statement in SET_UP:
                cursor.execute(statement)

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE fixed.clock SET now = %s", [self.now])
