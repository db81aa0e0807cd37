"""Empties the tables after a test that commits: Django's flush takes most of a second on a busy machine."""

from __future__ import annotations

from django.db import connection
from django.test import TransactionTestCase

from kernel.changes.restored import CREATE

# Filled by `migrate`, like the state of the change log. Django's flush empties them as well, and fills them again.
UNCHANGED = ("django_content_type", "auth_permission", "messaging_readyreason")
# Raw events, and the visitors of open days.
WITHOUT_MODEL = ("embeds_event", "embeds_visitor")
# A divided table has its rows in its partitions.
# TRUNCATE creates a file for each table and index, while DELETE leaves pages for the planner to count. PostgreSQL plans
# a table that was never analysed as if it had at least ten pages: a smaller one may have dead rows.
EMPTY = """
DO $$
DECLARE
    found record;
    large text[] := '{}';
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR found IN
        SELECT part.oid::regclass::text AS name,
            part.reltuples < 0 AND pg_relation_size(part.oid) < 10 * 8192 AS small
        FROM pg_class part
        LEFT JOIN pg_inherits ON inhrelid = part.oid
        LEFT JOIN pg_class whole ON whole.oid = inhparent
        WHERE coalesce(whole.relname, part.relname) = ANY (TABLES)
            AND part.relkind = 'r' AND pg_relation_size(part.oid) > 0
    LOOP
        IF found.small THEN
            EXECUTE 'DELETE FROM ' || found.name;
        ELSE
            large := large || found.name;
        END IF;
    END LOOP;
    IF large <> '{}' THEN
        EXECUTE 'TRUNCATE ' || array_to_string(large, ', ') || ' CASCADE';
    END IF;
END
$$
"""


def install() -> None:
    TransactionTestCase._fixture_teardown = lambda _self: empty_tables()  # type: ignore[attr-defined]


def empty_tables() -> None:
    tables = {*connection.introspection.django_table_names(), *WITHOUT_MODEL} - set(UNCHANGED)
    names = ", ".join(f"'{table}'" for table in sorted(tables))
    with connection.cursor() as cursor:
        cursor.execute(EMPTY.replace("TABLES", f"ARRAY[{names}]"))
        cursor.execute(CREATE)
