"""Small databases in the PostgreSQL of the tests, with the tables of the service that backups look at."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings

from kernel.fingerprints import fingerprint
from tests.faults.hosts import empty_database
from tests.service import ROOT

TABLES = """
CREATE TABLE api_secretfingerprint (name text PRIMARY KEY, fingerprint bytea, updated_at timestamptz);
CREATE TABLE django_migrations (app text, name text);
CREATE TABLE changes_changelog (id int, generation smallint, cluster text, updated_at timestamptz);
INSERT INTO django_migrations VALUES ('messaging', '0001_initial');
INSERT INTO changes_changelog VALUES (1, 0, 'here', now());
CREATE TABLE messaging_message AS SELECT number AS id, repeat(md5(number::text), 20) AS content
    FROM generate_series(1, 5000) AS number;
"""


@contextmanager
def a_database(*, tables: bool = True) -> Iterator[str]:
    """The address of a new database; it is dropped at the end."""
    with empty_database(os.environ["DATABASE_URL"]) as url:
        if tables:
            with psycopg.connect(url) as session:
                make_tables(session)
        yield url


def make_tables(session: psycopg.Connection[tuple[Any, ...]]) -> None:
    session.execute(TABLES)
    value = fingerprint("ROOT_KEY", settings.ROOT_KEY)
    session.execute("INSERT INTO api_secretfingerprint VALUES ('ROOT_KEY', %s)", [value])


def begin_again_by_hand(session: psycopg.Connection[tuple[Any, ...]]) -> None:
    """What docs/operations.md says about a restore that the service does not notice."""
    statement = re.search(r"```sql\n(UPDATE changes_changelog .*);\n```", (ROOT / "docs/operations.md").read_text())
    assert statement
    session.execute(statement[1].encode())
