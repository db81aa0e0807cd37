"""The stream process: granian in one process, running the ASGI application in its event loop.

`make run` starts it beside the workers; without `make run`, a service manager runs `python -m config.runtime.streams`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server

from config import env
from config.logging import LOGGING
from config.runtime import bind_address
from config.runtime.granian import BACKLOG, HEADER_MILLISECONDS, PORT, stop_with_parent

# Of the open files, those that no client uses.
OTHER_FILES = 64
FILES_MAX = 65_536
# After the last bytes of the streams have been sent. Clients that do not read them would take longer.
STOP_SECONDS = 1.0
PARENT = "STREAMS_PARENT"
logger = logging.getLogger(__name__)


def main() -> None:
    port = env.integer("PORT", PORT, minimum=1, maximum=65535)
    if PARENT in os.environ:
        stop_with_parent(int(os.environ[PARENT]))
    connections = raise_file_limit() - OTHER_FILES
    asyncio.run(serve(bind_address.stream_port(port), connections))
    # Granian's threads may still wait for clients that do not read.
    os._exit(0)


async def serve(port: int, connections: int) -> None:
    """Serve until SIGINT or SIGTERM."""
    from config.asgi import application

    server = Server(
        application,
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
    await asyncio.wait({serving, asyncio.create_task(stopped.wait())}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()
    application.close()
    server.stop()  # type: ignore[no-untyped-call]
    await asyncio.wait({serving}, timeout=STOP_SECONDS)


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
