"""Django's `migrate` for a database in use: one host at a time, and no request waits long behind a migration.

A migration that waits for a table makes everything wait that asks for the table after it. So it gives up after
LOCK_TIMEOUT and is tried again: each is atomic and recorded with what it does, so the next try starts with the one that
did not get its lock.
"""

from __future__ import annotations

import time
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently, NotInTransactionMixin
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.migrations import Migration

from config.database.host_lock import host_lock
from config.database.sql import sqlstate

# It did not get a lock in time, or was broken off for a transaction that it would have waited for.
TRIED_AGAIN = frozenset({"55P03", "40P01"})
LOCK_TIMEOUT = "150ms"
# PostgreSQL ends an autovacuum that is in the way after deadlock_timeout, which only some roles may set.
BEFORE_AUTOVACUUM = """
SELECT set_config('deadlock_timeout', '100ms', false) WHERE has_parameter_privilege('deadlock_timeout', 'SET')
"""
PARAMETER_PRIVILEGES_SINCE = 150_000
FIRST_PAUSE_SECONDS, GROWTH, PAUSE_MAX_SECONDS = 0.5, 1.5, 10.0
TRYING_SECONDS = 600.0
OLDEST_TRANSACTION = """
SELECT pid, application_name, extract(epoch FROM clock_timestamp() - xact_start)::int FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 1
"""


class Command(migrate.Command):
    help = (
        "Bring the tables of the database up to this release. Safe beside a running service, and on several hosts at "
        "once: they wait for one another. Safe to run twice."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["plan"] or options["check_unapplied"]:
            super().handle(*args, **options)
            return
        self._connection = connections[options["database"]]
        try:
            with host_lock(self._connection, task="migrates", say=self._say):
                self._try(*args, **options)
        finally:
            # The settings of its session go with it.
            self._connection.close()

    def migration_progress_callback(self, action: str, migration: Migration | None = None, fake: bool = False) -> None:
        if migration is not None and action.endswith("_start") and not fake:
            self._prepare(migration)
        super().migration_progress_callback(action, migration, fake)

    def _try(self, *args: Any, **options: Any) -> None:
        pause, deadline = FIRST_PAUSE_SECONDS, time.monotonic() + TRYING_SECONDS
        while not self._is_done(*args, **options):
            if time.monotonic() + pause > deadline:
                raise CommandError(
                    f"A table was in use for {TRYING_SECONDS:.0f} s{self._by_whom()}, and a migration did not get its "
                    "lock. End what uses it, and migrate again; what is applied stays applied."
                )
            self._say(f"A table is in use{self._by_whom()}; the migration is tried again in {pause:.1f} s …")
            time.sleep(pause)
            pause = min(pause * GROWTH, PAUSE_MAX_SECONDS)

    def _is_done(self, *args: Any, **options: Any) -> bool:
        """False where a migration did not get a lock in time."""
        try:
            super().handle(*args, **options)
        except OperationalError as failure:
            if sqlstate(failure) not in TRIED_AGAIN:
                raise
            if options["verbosity"]:
                self.stdout.write(" waits")
            return False
        return True

    def _prepare(self, migration: Migration) -> None:
        """How long it waits for a lock. An index that is built beside reads and writes stops nobody: no limit."""
        beside = not migration.atomic and all(isinstance(part, NotInTransactionMixin) for part in migration.operations)
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", ["0" if beside else LOCK_TIMEOUT])
            if cursor.connection.info.server_version >= PARAMETER_PRIVILEGES_SINCE:
                cursor.execute(BEFORE_AUTOVACUUM)
            if beside:
                if by_whom := self._by_whom():
                    self._say(f"{migration} waits for the end of the transactions that are open{by_whom} …")
                self._drop_unfinished(migration, cursor)

    def _drop_unfinished(self, migration: Migration, cursor: Any) -> None:
        """An index whose building broke off is left there, of no use and in the way of the next try."""
        for operation in migration.operations:
            if isinstance(operation, AddIndexConcurrently):
                name = self._connection.ops.quote_name(operation.index.name)
                cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")

    def _by_whom(self) -> str:
        with self._connection.cursor() as cursor:
            cursor.execute(OLDEST_TRANSACTION)
            row = cursor.fetchone()
        if row is None:
            return ""
        pid, application, seconds = row
        return f" (the oldest transaction: process {pid}, {application or 'unnamed'}, open for {seconds} s)"

    def _say(self, text: str) -> None:
        """At any verbosity: a start that waits says so."""
        self.stdout.write(text)
        self.stdout.flush()
