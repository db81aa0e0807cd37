"""The stream process: granian in one process, running the ASGI application in its event loop.

`make run` starts it beside the workers; without `make run`, a service manager runs `python -m runtime.streams`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import resource
import signal
import sys
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server

from config import env
from config.logging import LOGGING
from runtime import bind_address, supervisor
from runtime.granian import BACKLOG, HEADER_MILLISECONDS, PORT
from runtime.supervisor import stop_with_parent

# Of the open files, those that no client uses.
OTHER_FILES = 64
FILES_MAX = 65_536
# After the last bytes of the streams have been sent. Clients that do not read them would take longer.
STOP_SECONDS = 1.0
logger = logging.getLogger(__name__)


def main() -> None:
    port = env.integer("PORT", PORT, minimum=1, maximum=65535)
    parser = argparse.ArgumentParser(prog="python -m runtime.streams", description="Serve the streams.")
    parser.add_argument("--parent", type=int, metavar="PID", help="also stop when this process, the parent, has ended")
    parent: int | None = parser.parse_args().parent
    if parent is not None:
        stop_with_parent(parent)
    else:
        require_known_secrets()
    connections = raise_file_limit() - OTHER_FILES
    status = asyncio.run(serve(bind_address.stream_port(port), connections))
    # Granian's threads may still wait for clients that do not read.
    os._exit(status)


def require_known_secrets() -> None:
    """`make run` has checked them; a start by hand has not."""
    with supervisor.none_during_start():
        # Sets Django up.
        import config.asgi  # noqa: F401
        from kernel import fingerprints

    try:
        fingerprints.require_known_secrets()
    except ImproperlyConfigured as error:
        sys.exit(f"python -m runtime.streams: {error}")


async def serve(port: int, connections: int) -> int:
    """Serve until SIGINT or SIGTERM, or until the application has failed. Returns the exit status."""
    with supervisor.none_during_start():
        from config.asgi import application
        from kernel.probes.asgi import WithProbes

    server = Server(
        WithProbes(application),
        address=str(bind_address.host()),
        port=port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_MILLISECONDS),
        websockets=False,
        backlog=BACKLOG,
        backpressure=connections,
        log_level=LogLevels.error,
        log_dictconfig=LOGGING,
    )
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    serving = asyncio.create_task(_serving(server))
    ends = {serving, asyncio.create_task(stopped.wait()), asyncio.create_task(application.failed.wait())}
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()
    application.close()
    server.stop()  # type: ignore[no-untyped-call]
    await asyncio.wait({serving}, timeout=STOP_SECONDS)
    return int(application.failed.is_set())


async def _serving(server: Any) -> None:
    await server.serve()


def raise_file_limit() -> int:
    """Each stream is an open file. Returns the number of files that this process may open."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = FILES_MAX if hard == resource.RLIM_INFINITY else min(hard, FILES_MAX)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return files


if __name__ == "__main__":
    main()
