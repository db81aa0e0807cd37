"""The one LISTEN connection of a process that follows the change log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections

from kernel.changes.wakeups import CHANNEL
from kernel.database.deployment import DIRECT
from kernel.database.errors import first_line

FIRST_PAUSE_SECONDS, PAUSE_MAX_SECONDS = 0.1, 2.0
# A server that is frozen, or that is no primary any more, sends nothing: so it is asked.
SILENT_SECONDS, ANSWER_SECONDS = 10.0, 5.0
logger = logging.getLogger(__name__)


async def listen(wake: Callable[[], None], *, name: str) -> None:
    """Call `wake` at every notification, until cancelled. A lost connection is replaced.

    `name` is that of the connection in pg_stat_activity.
    """
    pause = FIRST_PAUSE_SECONDS
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(**_parameters(name)) as connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                pause = FIRST_PAUSE_SECONDS
                # For the notifications since the last connection.
                wake()
                while True:
                    async for _notification in connection.notifies(timeout=SILENT_SECONDS):
                        wake()
                    await asyncio.wait_for(connection.execute("SELECT 1"), ANSWER_SECONDS)
        except (psycopg.Error, OSError, TimeoutError) as error:
            logger.warning("PostgreSQL gives no wake-ups; the change log is read at intervals: %s", first_line(error))
        await asyncio.sleep(pause)
        pause = min(2 * pause, PAUSE_MAX_SECONDS)


def _parameters(name: str) -> dict[str, Any]:
    """Those of Django's connections, without its classes for synchronous ones. A pooler passes on no notifications."""
    alias = DIRECT if DIRECT in connections else DEFAULT_DB_ALIAS
    parameters = dict(connections[alias].get_connection_params())
    for option in ("context", "cursor_factory"):
        parameters.pop(option, None)
    return parameters | {"autocommit": True, "application_name": f"community-messaging {name}"}
