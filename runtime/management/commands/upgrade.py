from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.contrib.postgres.operations import NotInTransactionMixin
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.operations import AddConstraint, AddIndex, AlterField, CreateModel, RunPython, RunSQL
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

SIZE = "SELECT pg_total_relation_size(to_regclass(%s))"
# What a slow disk reads in a second: the estimates are those of a migration that reads its tables once.
BYTES_PER_SECOND = 50_000_000
MEGABYTE = 1_000_000
READING = (AddIndex, AddConstraint, AlterField)


class Command(BaseCommand):
    help = (
        "Apply the migrations of this release beside the running service, after which each host is started again. "
        "With --check, only print them: what each does, which locks it needs and about how long it reads. The exit "
        "status is 0 either way."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing, and print what would be done")
        parser.add_argument("--json", action="store_true", help="with --check: print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["check"]:
            self._print(pending(), as_json=options["json"])
            return
        call_command("migrate", verbosity=1, skip_checks=False, stdout=self.stdout)
        self.stdout.write("Now start each host again: systemctl restart community-messaging")

    def _print(self, found: list[dict[str, Any]], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"migrations": found}))
            return
        for one in found:
            self.stdout.write(f"{one['migration']}: about {one['seconds']} s")
            for step in one["steps"]:
                self.stdout.write(f"  {step['does']}; {step['lock']}")
        said = "Back up first: a release that is older than its database is not supported by every migration."
        self.stdout.write(said if found else "Nothing to do: the database has the migrations of this release.")


def pending() -> list[dict[str, Any]]:
    """The migrations that are not applied, in their order."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    applied = executor.loader.applied_migrations.keys() & executor.loader.graph.nodes.keys()
    state = executor.loader.project_state(sorted(applied))
    found = []
    for migration, _is_backwards in plan:
        steps = [_step(operation, migration, state) for operation in migration.operations]
        found.append({"migration": str(migration), "steps": steps, "seconds": sum(step["seconds"] for step in steps)})
    return found


def _step(operation: Operation, migration: Migration, state: ProjectState) -> dict[str, Any]:
    """What an operation does. Advances the state by it."""
    operation.state_forwards(migration.app_label, state)
    table = _table_of(operation, migration, state)
    with connection.cursor() as cursor:
        cursor.execute(SIZE, [table])
        ((size,),) = cursor.fetchall()
    size = size or 0
    reads = isinstance(operation, (*READING, NotInTransactionMixin))
    return {
        "does": f"{operation.describe()}{f' ({table}, {size / MEGABYTE:.0f} MB)' if size else ''}",
        "lock": _lock(operation),
        "seconds": round(size / BYTES_PER_SECOND) if reads else 0,
    }


def _table_of(operation: Operation, migration: Migration, state: ProjectState) -> str:
    """The table of the operation's model; empty if it names none."""
    name = str(getattr(operation, "model_name", getattr(operation, "name", "")) or "").lower()
    model = state.models.get((migration.app_label, name))
    return "" if model is None else str(model.options.get("db_table") or f"{migration.app_label}_{name}")


def _lock(operation: Operation) -> str:
    if isinstance(operation, NotInTransactionMixin):
        return "blocks no request"
    if isinstance(operation, CreateModel):
        return "makes a new table, which blocks no request"
    if isinstance(operation, (RunSQL, RunPython)):
        return "runs statements of its own"
    return "locks the table as soon as it is free, and is tried again until then"
