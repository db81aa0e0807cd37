"""PostgreSQL's clock, to be set by a test: the hourly limits read no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db import connection

# A schema named before pg_catalog hides the built-in clock, for this transaction and nobody else.
SET_UP = (
    "CREATE SCHEMA standing",
    "CREATE TABLE standing.clock AS SELECT timestamptz '2026-01-01T00:00:00Z' AS now",
    "CREATE FUNCTION standing.clock_timestamp() RETURNS timestamptz VOLATILE RETURN (SELECT now FROM standing.clock)",
    "SET LOCAL search_path = standing, pg_catalog, public",
)


class StandingClock:
    """Stands still between calls of `advance`, until the transaction that it is made in rolls back."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        with connection.cursor() as cursor:
            for statement in SET_UP:
                cursor.execute(statement)

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE standing.clock SET now = %s", [self.now])
