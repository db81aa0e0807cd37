"""Errors of PostgreSQL that a transaction gets the first times, and not when it runs again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

# A rollback does not reset a sequence, so the trigger can fail for the first tries alone.
FAILING = """
CREATE SEQUENCE tries;
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('tries') <= {times} THEN RAISE EXCEPTION 'injected' USING ERRCODE = '{sqlstate}'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER failing BEFORE {change} ON {table} FOR EACH ROW EXECUTE FUNCTION fail();
"""
RECOVERED = "DROP TRIGGER failing ON {table}; DROP FUNCTION fail; DROP SEQUENCE tries"


@contextmanager
def failing(sqlstate: str, *, times: int, change: str = "INSERT", table: str = "messaging_message") -> Iterator[None]:
    """The first `times` changes of a row of the table fail with this error."""
    with connection.cursor() as cursor:
        cursor.execute(FAILING.format(sqlstate=sqlstate, times=times, change=change, table=table))
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(RECOVERED.format(table=table))


def tries() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM tries")
        return int(cursor.fetchone()[0])
