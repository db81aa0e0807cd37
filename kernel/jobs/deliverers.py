"""The commands that deliver what is due, until they are stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from argparse import ArgumentParser
from typing import Any, Protocol

from django.core.management.base import BaseCommand

from kernel import fingerprints

LOOK_SECONDS = 1


class Deliverer(Protocol):
    """`stop` may be called by a signal handler of the loop."""

    async def run(self) -> None: ...

    def stop(self) -> None: ...


class DelivererCommand(BaseCommand):
    """Runs `deliverer()` until SIGTERM, Ctrl-C, or the end of the process `--parent`."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--parent", type=int, metavar="PID", help="also stop when this is no more the parent")

    def handle(self, *args: Any, **options: Any) -> None:
        self.require_settings()
        if options["parent"] is None:
            # `make run` has checked them; a start by hand has not.
            fingerprints.require_known_secrets()
            self.prepare_by_hand()
        asyncio.run(_deliver(self.deliverer(), options["parent"]))
        # Without waiting for threads that wait for other servers.
        sys.stdout.flush()
        os._exit(0)

    def deliverer(self) -> Deliverer:
        raise NotImplementedError

    def require_settings(self) -> None:
        """Raise CommandError where this service delivers nothing."""

    def prepare_by_hand(self) -> None:
        """Before a start by hand."""


async def _deliver(deliverer: Deliverer, parent: int | None) -> None:
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
        await asyncio.sleep(LOOK_SECONDS)
