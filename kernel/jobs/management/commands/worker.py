from __future__ import annotations

import asyncio
import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from kernel import fingerprints
from kernel.jobs.worker import serve


class Command(BaseCommand):
    help = (
        "Run the jobs of the queue, and deliver webhooks and mails, until SIGTERM or Ctrl-C. A running service starts "
        "one; any number of hosts may run it. What its end interrupts goes on elsewhere, or after the next start."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--parent", type=int, metavar="PID", help="also stop when this is no more the parent")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["parent"] is None:
            # `make run` has checked them; a start by hand has not.
            fingerprints.require_known_secrets()
            # It may have the environment of a service that runs on another host, with its stream process.
            settings.STREAMS = False
        asyncio.run(serve(options["parent"]))
        # Threads that wait for PostgreSQL, or for a mail server, do not delay the end.
        sys.stdout.flush()
        os._exit(0)
