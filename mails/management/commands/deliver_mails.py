from __future__ import annotations

import asyncio
import os
import signal
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from config import fingerprints
from mails.deliverer import Deliverer


class Command(BaseCommand):
    help = (
        "Send mails about what happens until SIGTERM or Ctrl-C. A service that runs with EMAIL_URL starts it; any "
        "number of hosts may run it. A mail that is being sent when the process is killed is sent again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--parent", type=int, metavar="PID", help="also stop when this is no more the parent")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["parent"] is None:
            # `make run` has checked them; a start by hand has not.
            fingerprints.require_known_secrets()
            # It may have the environment of a service that runs on another host, with its stream process.
            settings.STREAMS = False
        asyncio.run(_deliver(options["parent"]))
        # Without waiting for threads that wait for the mail server.
        sys.stdout.flush()
        os._exit(0)


async def _deliver(parent: int | None) -> None:
    deliverer = Deliverer()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, deliverer.stop)
    watching = asyncio.create_task(_stop_without(parent, deliverer))
    await deliverer.run()
    watching.cancel()


async def _stop_without(parent: int | None, deliverer: Deliverer) -> None:
    while parent is not None:
        if os.getppid() != parent:
            deliverer.stop()
        await asyncio.sleep(1)
