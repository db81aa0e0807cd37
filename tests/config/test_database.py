"""The settings of connections to PostgreSQL."""

import os

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.db.backends.postgresql import base

from kernel.database import urls
from kernel.database.sql import fetch_one

ADDRESS = "postgresql://app:p%40ss@db.example:6432/posts?sslmode=require"


def test_an_address_becomes_django_settings() -> None:
    entry = urls.database(ADDRESS, statement_timeout=5_000)
    parts = {"NAME": "posts", "USER": "app", "PASSWORD": "p@ss", "HOST": "db.example", "PORT": "6432"}
    assert entry.items() >= parts.items()
    assert entry["OPTIONS"]["sslmode"] == "require"


def test_the_timeouts_of_a_session() -> None:
    """Of a service: the timeouts of the tests are longer."""
    of_a_service = urls.database(os.environ["DATABASE_URL"], statement_timeout=5_000)["OPTIONS"]
    parameters = connection.get_connection_params() | of_a_service
    expected = {
        "statement_timeout": "5s",
        "lock_timeout": "2s",
        "idle_in_transaction_session_timeout": "10s",
        "client_connection_check_interval": "2s",
        "transaction_isolation": "read committed",
        "application_name": "community-messaging",
        "TimeZone": "UTC",
    }
    with connection.get_new_connection(parameters | {"prepare_threshold": None, "dbname": "community"}) as session:
        settings = "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)"
        assert dict(session.execute(settings, [list(expected)]).fetchall()) == expected


def test_an_idle_transaction_always_times_out() -> None:
    """Commands have no statement timeout; those that run for long would stop every reader of the change log."""
    for statement_timeout, idle in ((5_000, 10_000), (1, 2), (0, 60_000)):
        options = urls.database(ADDRESS, statement_timeout=statement_timeout)["OPTIONS"]["options"]
        assert f"-c idle_in_transaction_session_timeout={idle} " in options


@pytest.mark.django_db
def test_a_second_connection_runs_no_statement_of_the_first() -> None:
    with connection.get_new_connection(connection.get_connection_params()) as second:
        here = fetch_one("SELECT pg_backend_pid()")
        assert here != second.execute("SELECT pg_backend_pid()").fetchone()
    assert fetch_one("SELECT pg_backend_pid()") == here


@pytest.mark.django_db
def test_an_sql_statement_is_prepared_and_planned_once_and_one_of_the_orm_for_its_values() -> None:
    """The first would be planned for its values at least five times, and each time for a large page; a partial index
    can only be used if the values are known.
    """
    for number in range(8):
        fetch_one("SELECT %s::int + 20261120", [number])
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s::int + 20261121", [number])
    prepared = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE %s"
    row = fetch_one(prepared, ["%::int + 20261120"])
    assert row is not None
    assert row[0] > 1
    assert row[1] == 0
    assert fetch_one(prepared, ["%::int + 20261121"]) is None


@pytest.mark.django_db
def test_a_healthy_connection_is_checked_without_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.ensure_connection()
    default = settings.DATABASES["default"]
    assert (default["CONN_MAX_AGE"], default["CONN_HEALTH_CHECKS"]) == (None, True)
    monkeypatch.setattr(base.DatabaseWrapper, "is_usable", lambda self: pytest.fail("asked the server"))
    assert connection.is_usable()


@pytest.mark.django_db(transaction=True)
def test_a_connection_closed_by_the_server_is_detected() -> None:
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    with psycopg.connect(settings_url(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    assert not connection.is_usable()
    connection.close()


def settings_url() -> str:
    current = connection.settings_dict
    return psycopg.conninfo.make_conninfo(dbname=current["NAME"], user=current["USER"], host=current["HOST"])
