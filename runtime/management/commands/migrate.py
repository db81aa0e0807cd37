"""Django's `migrate` for a database in use: one host at a time, and no request waits long for a migration.

While a migration waits for a table lock, all later requests for the table wait behind it. So it gives up after
LOCK_TIMEOUT and is tried again. Each migration is atomic with its record, so the next try starts with the one that did
not get its lock.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently, NotInTransactionMixin
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.migrations import Migration

from kernel.database.locks import BEFORE_AUTOVACUUM, LOCK_TIMEOUT, TableInUse, by_whom, host_lock, repeat_until_locked

PARAMETER_PRIVILEGES_SINCE = 150_000
# That of a partitioned table, which the next try completes (`kernel.database.backend.base`).
IS_PARTITIONED = "SELECT FROM pg_class WHERE oid = to_regclass(%s) AND relkind = 'I'"


class Command(migrate.Command):
    help = (
        "Migrate the database to this release. Safe while the service runs, and on several hosts at the same time: "
        "they wait for one another. Safe to repeat."
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
            # This discards the settings of the session.
            self._connection.close()

    def migration_progress_callback(self, action: str, migration: Migration | None = None, fake: bool = False) -> None:
        if migration is not None and action.endswith("_start") and not fake:
            self._prepare(migration)
        super().migration_progress_callback(action, migration, fake)

    def _try(self, *args: Any, **options: Any) -> None:
        try:
            repeat_until_locked(lambda: self._migrate(*args, **options), database=self._connection, say=self._say)
        except TableInUse as failure:
            raise CommandError(f"{failure} Applied migrations stay applied.") from None

    def _migrate(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except OperationalError:
            if options["verbosity"]:
                # End the line of the migration that failed.
                self.stdout.write()
            raise

    def _prepare(self, migration: Migration) -> None:
        """Set the lock timeout of a migration: none if it builds an index concurrently, which blocks no request."""
        concurrent = any(isinstance(part, NotInTransactionMixin) for part in migration.operations)
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", ["0" if concurrent else LOCK_TIMEOUT])
            if cursor.connection.info.server_version >= PARAMETER_PRIVILEGES_SINCE:
                cursor.execute(BEFORE_AUTOVACUUM)
            if concurrent:
                if transaction := by_whom(self._connection):
                    self._say(f"{migration} waits for the end of the transactions that are open{transaction} …")
                self._drop_unfinished(migration, cursor)

    def _drop_unfinished(self, migration: Migration, cursor: Any) -> None:
        """Drop the invalid indexes that an interrupted build has left: they would make the next try fail."""
        for operation in migration.operations:
            if isinstance(operation, AddIndexConcurrently):
                name = self._connection.ops.quote_name(operation.index.name)
                cursor.execute(IS_PARTITIONED, [name])
                if cursor.fetchone() is not None:
                    continue
                cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")

    def _say(self, text: str) -> None:
        """Print at any verbosity: a start that waits reports it."""
        self.stdout.write(text)
        self.stdout.flush()
