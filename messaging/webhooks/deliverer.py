"""Delivers the events of all webhooks: each webhook's in their order, those of different webhooks concurrently.

Queries run in a few threads, requests in one event loop, so that slow receivers do not delay others.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from functools import partial
from uuid import UUID

from django.db import Error

from config.changes.listening import listen
from config.changes.threads import Threads
from messaging.webhooks.outcomes import record
from messaging.webhooks.posting import post
from messaging.webhooks.turns import Waiting, lease, next_attempt, release, waiting_webhooks

QUERY_THREADS = 4
IN_FLIGHT_MAX = 100
# Of one owner, so that the slow receivers of one do not delay those of others.
IN_FLIGHT_OF_OWNER = 5
# The log is also read without a wake-up, which may get lost.
POLL_SECONDS = 1.0
# Events of a webhook before the next one has its turn.
TURN_EVENTS = 50
logger = logging.getLogger(__name__)


class Deliverer:
    """Runs until `stop`, which may be called by a signal handler of the loop."""

    def __init__(self) -> None:
        self._queries = Threads("queries", count=QUERY_THREADS)
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._of_owner: Counter[UUID] = Counter()
        self._stopped = False

    async def run(self) -> None:
        self._due = asyncio.Event()
        listening = asyncio.create_task(listen(self._due.set, name="webhooks"))
        while not self._stopped:
            await self._start_turns()
            await self._wait()
        listening.cancel()
        await self._end_turns()

    def stop(self) -> None:
        """Stop at once; the events that are being sent are sent again after the next start."""
        self._stopped = True
        self._due.set()

    async def _wait(self) -> None:
        try:
            await asyncio.wait_for(self._due.wait(), POLL_SECONDS)
        except TimeoutError:
            return
        self._due.clear()

    async def _start_turns(self) -> None:
        try:
            waiting = await self._queries.run(waiting_webhooks)
        except Error as failure:
            logger.warning("The webhooks were not read: %s", failure)
            return
        for webhook in waiting:
            if self._has_room(webhook):
                self._of_owner[webhook.owner_id] += 1
                task = asyncio.create_task(self._turn(webhook.id))
                self._tasks[webhook.id] = task
                task.add_done_callback(partial(self._ended, webhook))

    def _has_room(self, webhook: Waiting) -> bool:
        return (
            webhook.id not in self._tasks
            and len(self._tasks) < IN_FLIGHT_MAX
            and self._of_owner[webhook.owner_id] < IN_FLIGHT_OF_OWNER
        )

    def _ended(self, webhook: Waiting, _task: asyncio.Task[None]) -> None:
        del self._tasks[webhook.id]
        self._of_owner[webhook.owner_id] -= 1

    async def _turn(self, webhook_id: UUID) -> None:
        """Deliver events of a webhook until there is none, one fails, or others have to follow."""
        try:
            lease_id = await self._queries.run(lease, webhook_id)
            if lease_id is None:
                return
            try:
                if await self._deliver(lease_id):
                    self._due.set()
            finally:
                await asyncio.shield(self._queries.run(release, lease_id))
        except Exception:
            # The lease expires, and the event is sent again.
            logger.exception("Webhook %s was not delivered", webhook_id)

    async def _deliver(self, lease_id: UUID) -> bool:
        """Returns whether events may follow."""
        for _ in range(TURN_EVENTS):
            attempt = await self._queries.run(next_attempt, lease_id)
            if attempt is None:
                return False
            outcome = await post(attempt.webhook.url, attempt.event.body, attempt.headers)
            if not await self._queries.run(record, attempt, outcome):
                return False
        return True

    async def _end_turns(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
