from __future__ import annotations

import os
import sys
import threading
import time
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from kernel import fingerprints
from kernel.jobs import queue
from kernel.jobs.models import ERROR_MAX, JobNote

PARENT_SECONDS = 1.0


class Command(BaseCommand):
    help = (
        "Run a job of the service now: one of the housekeeping, or all work of a kind that no other process does, such "
        "as `exports`. For cron where no worker runs. Safe to repeat and to run concurrently."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=queue.names())
        parser.add_argument("--key", help="the id of the row (the worker sets it)")
        parser.add_argument("--job", type=int, help="the number of the job in the queue (the worker sets it)")
        parser.add_argument("--parent", type=int, metavar="PID", help="end with this process (the worker sets it)")

    def handle(self, *args: Any, **options: Any) -> None:
        fingerprints.require_known_secrets()
        name, job = options["name"], options["job"]
        if options["parent"] is not None:
            threading.Thread(target=_end_with, args=[options["parent"]], daemon=True).start()
        if job is not None:
            self._run(job, name, options["key"])
        elif name in settings.HOUSEKEEPING:
            queue.run_command(name)
        elif options["key"]:
            raise CommandError("--key needs --job.")
        else:
            self.stdout.write(f"{name}: {queue.run_due(name)} done")

    def _run(self, job: int, name: str, key: str | None) -> None:
        try:
            queue.run(name, key)
        except Exception as error:  # noqa: BLE001  people have to learn why
            with suppress(Error):
                JobNote.objects.filter(pk=job).update(error=_text(error))
            queue.logger.exception("The job %s (%s) has failed", name, key or job)
            sys.exit(1)


def _end_with(parent: int) -> None:
    """PostgreSQL rolls back; the job goes on in another process."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)


def _text(error: Exception) -> str:
    """One line, without what an error of PostgreSQL tells about the values of a row."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:ERROR_MAX]
