"""Migrations of a database in use, on several hosts at once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import StringIO

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, connections, models
from django.db.migrations import AddIndex, Migration
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ModelState, ProjectState
from django.test import override_settings

from kernel.database import locks
from kernel.database.locks import ASK
from runtime.management.commands import upgrade
from tests.commands.running import run, run_json
from tests.faults.next_release import INDEX
from tests.faults.next_release.settings import INSTALLED_APPS
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)

Session = psycopg.Connection[tuple[object, ...]]
APP = "next_release"
TYPE = """
SELECT character_maximum_length FROM information_schema.columns
WHERE table_name = 'messaging_message' AND column_name = 'source_app'
"""
IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass"
WAITS_FOR = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND %s = ANY (pg_blocking_pids(pid)))"


@pytest.fixture
def next_release() -> Iterator[None]:
    """An app with migrations to apply, which are reversed after the test."""
    with override_settings(INSTALLED_APPS=INSTALLED_APPS):
        yield
        call_command("migrate", APP, "zero", verbosity=0)


@pytest.fixture
def another() -> Iterator[Session]:
    with psycopg.connect(**connection.get_connection_params()) as session:
        yield session


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


class Migrating:
    """Runs `migrate` in a thread, as `make run` calls it."""

    def __init__(self, pool: ThreadPoolExecutor, *target: str) -> None:
        self.out = StringIO()
        self.done: Future[None] = pool.submit(self._run, *target)

    def _run(self, *target: str) -> None:
        try:
            call_command("migrate", *target, verbosity=0, stdout=self.out)
        finally:
            connections.close_all()

    def wait_for_output(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self.out.getvalue():
            assert not self.done.done(), self.out.getvalue()
            assert time.monotonic() < deadline, self.out.getvalue()
            time.sleep(0.01)


def value(session: Session, query: str, *values: object) -> object:
    row = session.execute(query, values).fetchone()
    assert row
    return row[0]


def test_migrate_waits_while_another_host_migrates(pool: ThreadPoolExecutor, another: Session) -> None:
    assert value(another, ASK, "migrates") is True
    migrating = Migrating(pool)
    migrating.wait_for_output("Another host migrates; waiting …")
    another.close()
    migrating.done.result(timeout=PATIENCE_SECONDS)


@pytest.mark.usefixtures("next_release")
def test_migrate_gets_its_lock_after_a_long_read_transaction_ends(pool: ThreadPoolExecutor, another: Session) -> None:
    """It reports the process that it waits for, and applies no part of the migration meanwhile."""
    another.execute("SELECT FROM messaging_message")
    migrating = Migrating(pool, APP, "0001")
    migrating.wait_for_output(f"process {another.info.backend_pid}, community-messaging, open for ")
    assert value(another, TYPE) == 64
    another.commit()
    migrating.done.result(timeout=PATIENCE_SECONDS)
    assert value(another, TYPE) == 84


@pytest.mark.usefixtures("next_release")
def test_migrate_fails_with_one_line_if_the_table_stays_in_use(
    another: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "TRYING_SECONDS", 1.0)
    another.execute("SELECT FROM messaging_message")
    with pytest.raises(CommandError, match=r"A table was in use for 1 s \(.+\)\. .+ try again") as failure:
        call_command("migrate", APP, "0001", verbosity=0, stdout=StringIO())
    assert "\n" not in str(failure.value)
    assert value(another, TYPE) == 64


@pytest.mark.slow
@pytest.mark.usefixtures("next_release")
@pytest.mark.parametrize("is_valid", [True, False])
def test_an_index_build_that_was_interrupted_is_repeated(is_valid: bool) -> None:
    """Interrupted during the build, or after the build and before the migration was recorded."""
    call_command("migrate", APP, "0003", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX {INDEX} ON next_release_note (words)")
        cursor.execute("UPDATE pg_index SET indisvalid = %s WHERE indexrelid = %s::regclass", [is_valid, INDEX])
    call_command("migrate", APP, verbosity=0, stdout=StringIO())
    with connection.cursor() as cursor:
        cursor.execute(IS_VALID, [INDEX])
        assert cursor.fetchone() == (True,)


@pytest.mark.usefixtures("next_release")
def test_a_concurrent_index_build_waits_for_writes_without_timeout(pool: ThreadPoolExecutor, another: Session) -> None:
    call_command("migrate", APP, "0003", verbosity=0)
    another.execute("INSERT INTO next_release_note (words) VALUES ('a')")
    migrating = Migrating(pool, APP)
    migrating.wait_for_output("waits for the end of the transactions that are open (the oldest transaction: ")
    while not value(another, WAITS_FOR, another.info.backend_pid):
        assert not migrating.done.done(), migrating.out.getvalue()
    # Longer than the lock timeout of other migrations.
    time.sleep(0.5)
    another.commit()
    migrating.done.result(timeout=PATIENCE_SECONDS)
    assert value(another, IS_VALID, INDEX) is True
    assert "in use" not in migrating.out.getvalue()


@pytest.mark.parametrize("option", ["--plan", "--check"])
def test_plan_and_check_do_not_wait_for_the_host_lock(option: str, another: Session) -> None:
    assert value(another, ASK, "migrates") is True
    call_command("migrate", option, verbosity=0, stdout=StringIO())


@pytest.mark.slow
def test_upgrade_checks_what_the_next_release_does_and_then_does_it(next_release: None) -> None:
    before = Counter(MigrationRecorder(connection).applied_migrations())
    said = run_json("upgrade", "--check", "--json")["migrations"]
    assert [one["migration"].partition(".")[2][:4] for one in said] == ["0001", "0002", "0003", "0004"]
    locks = [step["lock"] for one in said for step in one["steps"]]
    assert "makes a new table, which blocks no request" in locks
    assert locks[-1] == "blocks no request"
    assert "runs statements of its own" in locks
    assert "about 0 s" in run("upgrade", "--check")
    assert Counter(MigrationRecorder(connection).applied_migrations()) == before, "it changes nothing"
    assert "start each host again" in run("upgrade")
    assert run("upgrade", "--check").startswith("Nothing to do")


def test_upgrade_names_the_size_of_a_table_and_the_time_that_reading_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "BYTES_PER_SECOND", 1)
    migration = Migration("0001_index", "messaging")
    state = ProjectState()
    state.add_model(ModelState("messaging", "Message", [("id", models.UUIDField(primary_key=True))]))
    index = AddIndex("message", models.Index(fields=["id"], name="an_index"))
    step = upgrade._step(index, migration, state)
    assert step["seconds"] > 1_000
    assert "(messaging_message, " in step["does"]
    assert step["lock"].startswith("locks the table")
