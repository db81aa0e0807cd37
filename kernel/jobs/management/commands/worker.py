from __future__ import annotations

import asyncio
import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from kernel import fingerprints
from kernel.jobs.worker import serve


class Command(BaseCommand):
    help = (
        "Run the jobs of the queue until SIGTERM or Ctrl-C. A running service starts one; any number of hosts may run "
        "it. Each job runs in a process of its own. A job that is stopped, or whose worker ends, goes on elsewhere."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--parent", type=int, metavar="PID", help="also stop when this is no more the parent")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["parent"] is None:
            # `make run` has checked them; a start by hand has not.
            fingerprints.require_known_secrets()
        asyncio.run(serve(options["parent"]))
        # Threads that wait for PostgreSQL do not delay the end.
        sys.stdout.flush()
        os._exit(0)
