#!/usr/bin/env python
"""Django's command line. A missing setting or an unavailable database is reported in one sentence."""

import gc
import os
import sys
from contextlib import suppress

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand, ManagementUtility
from django.db import DatabaseError, OperationalError

from kernel.database.deployment import use_direct_connections
from kernel.database.sql import first_line, full_disk
from runtime import supervisor


class Commands(ManagementUtility):
    """Nothing is collected until Django is set up."""

    def execute(self) -> None:
        gc.disable()
        super().execute()

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """Called when Django is set up."""
        supervisor.after_start()
        return super().fetch_command(subcommand)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # The limit is for requests, also if the environment sets one: a migration or `prune` may take longer. The
    # statements of programs that run as long as the workers are as short as theirs.
    is_command = not {"worker", "check"} & {*sys.argv[1:2]}
    if is_command:
        os.environ["STATEMENT_TIMEOUT"] = "0"
    try:
        if is_command:
            use_direct_connections()
        Commands(sys.argv).execute()
        # What a file has no room for is told here, and not at the end of the interpreter.
        sys.stdout.flush()
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")
    except (OSError, DatabaseError) as error:
        if sentence := full_disk(error):
            _drop_output()
            sys.exit(f"manage.py: {sentence}")
        if not _is_about_connecting(error):
            raise
        sys.exit(
            f"manage.py: PostgreSQL does not answer ({first_line(error)}). "
            "Start it with `make run`, or set DATABASE_URL to one that runs."
        )


def _drop_output() -> None:
    """Else the interpreter would try to write the rest again when it ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_about_connecting(error: Exception) -> bool:
    # Errors of PostgreSQL have an SQLSTATE; only a failed connection has none.
    return (
        isinstance(error, OperationalError)
        and isinstance(error.__cause__, psycopg.OperationalError)
        and error.__cause__.sqlstate is None
    )


if __name__ == "__main__":
    main()
