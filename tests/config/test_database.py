"""The settings of connections to PostgreSQL."""

import os

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.db.backends.postgresql import base

from config.database import urls
from config.database.sql import fetch_one

ADDRESS = "postgresql://app:p%40ss@db.example:6432/posts?sslmode=require"


def test_an_address_becomes_django_settings() -> None:
    entry = urls.database(ADDRESS, statement_timeout=5_000)
    parts = {"NAME": "posts", "USER": "app", "PASSWORD": "p@ss", "HOST": "db.example", "PORT": "6432"}
    assert entry.items() >= parts.items()
    assert entry["OPTIONS"]["sslmode"] == "require"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("statement_timeout", "5s"),
        ("lock_timeout", "2s"),
        ("idle_in_transaction_session_timeout", "10s"),
        ("client_connection_check_interval", "2s"),
        ("transaction_isolation", "read committed"),
        ("application_name", "community-messaging"),
        ("TimeZone", "UTC"),
    ],
)
def test_the_timeouts_of_a_session(name: str, value: str) -> None:
    """Of a service: the timeouts of the tests are longer."""
    address = os.environ["DATABASE_URL"]
    of_a_service = urls.database(address, statement_timeout=5_000)["OPTIONS"] | {"prepare_threshold": None}
    parameters = connection.get_connection_params() | of_a_service | {"dbname": "community"}
    with connection.get_new_connection(parameters) as session:
        assert session.execute("SELECT current_setting(%s)", [name]).fetchone() == (value,)


@pytest.mark.parametrize(("statement_timeout", "idle"), [(5_000, 10_000), (1, 2), (0, 60_000)])
def test_an_idle_transaction_always_times_out(statement_timeout: int, idle: int) -> None:
    """Commands have no statement timeout; those that run for long would stop every reader of the change log."""
    options = urls.database(ADDRESS, statement_timeout=statement_timeout)["OPTIONS"]["options"]
    assert f"-c idle_in_transaction_session_timeout={idle} " in options


@pytest.mark.django_db
def test_a_second_connection_runs_no_statement_of_the_first() -> None:
    with connection.get_new_connection(connection.get_connection_params()) as second:
        here = fetch_one("SELECT pg_backend_pid()")
        assert here != second.execute("SELECT pg_backend_pid()").fetchone()
    assert fetch_one("SELECT pg_backend_pid()") == here


@pytest.mark.django_db
def test_an_sql_statement_is_prepared_and_planned_once() -> None:
    """Otherwise PostgreSQL would plan it for its values, at least five times, and each time for a large page."""
    for number in range(8):
        fetch_one("SELECT %s::int + 20261120", [number])
    prepared = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE %s"
    row = fetch_one(prepared, ["%::int + 20261120"])
    assert row is not None
    assert row[0] > 1
    assert row[1] == 0


@pytest.mark.django_db
def test_a_statement_of_the_orm_is_planned_for_its_values() -> None:
    """A partial index can only be used if the values are known."""
    for number in range(8):
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s::int + 20261121", [number])
    assert fetch_one("SELECT FROM pg_prepared_statements WHERE statement LIKE %s", ["%::int + 20261121"]) is None


@pytest.mark.django_db
def test_a_healthy_connection_is_checked_without_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.ensure_connection()
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


def test_connections_are_persistent_and_checked() -> None:
    default = settings.DATABASES["default"]
    assert default["CONN_MAX_AGE"] is None
    assert default["CONN_HEALTH_CHECKS"] is True
