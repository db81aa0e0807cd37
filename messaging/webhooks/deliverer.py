"""Delivers the events of all webhooks: each webhook's in their order, those of different webhooks concurrently.

Queries run in a few threads, requests in one event loop, so that slow receivers do not delay others.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from functools import partial
from uuid import UUID

from django.db import Error

from kernel.changes.wakeups import Threads, listen
from kernel.metrics.definitions import webhooks_waiting
from messaging.webhooks.posting import post
from messaging.webhooks.turns import Waiting, lease, next_attempt, record, release, waiting_webhooks

QUERY_THREADS = 4
IN_FLIGHT_MAX = 100
# Of one owner, so that the slow receivers of one do not delay those of others.
IN_FLIGHT_OF_OWNER = 5
# The longest pause between two rounds, as a wake-up may get lost, and the shortest: a round costs 0.05 s of processor
# time with 2,000 webhooks.
POLL_SECONDS, PAUSE_SECONDS = 1.0, 0.1
# A turn ends after this many events, and no event begins after this time: then the next webhook has its turn.
TURN_EVENTS, TURN_SECONDS = 50, 5.0
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
            ended = time.monotonic()
            await self._wait()
            await asyncio.sleep(ended + PAUSE_SECONDS - time.monotonic())
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
        webhooks_waiting.set(len(waiting))
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
            lease_id = await self._lease(webhook_id)
            if lease_id is not None:
                await self._deliver(lease_id)
                # This webhook may have more events, and others may have waited for its place.
                self._due.set()
        except Exception:
            # A defect, or no database. The event is sent again when the lease has expired.
            logger.exception("Webhook %s was not delivered", webhook_id)

    async def _lease(self, webhook_id: UUID) -> UUID | None:
        """A lease that is being taken while the process stops is released as well."""
        leasing = asyncio.ensure_future(self._queries.run(lease, webhook_id))
        try:
            return await asyncio.shield(leasing)
        except asyncio.CancelledError:
            if lease_id := await leasing:
                await self._queries.run(release, lease_id)
            raise

    async def _deliver(self, lease_id: UUID) -> None:
        """The lease is released in the end and when the process stops, but not after an unexpected exception."""
        try:
            await self._send_events(lease_id)
            await self._queries.run(release, lease_id)
        except asyncio.CancelledError:
            # Also if it is being released: the process must not end before that is done.
            await self._queries.run(release, lease_id)
            raise

    async def _send_events(self, lease_id: UUID) -> None:
        ends = time.monotonic() + TURN_SECONDS
        for _ in range(TURN_EVENTS):
            attempt = await self._queries.run(next_attempt, lease_id)
            if attempt is None:
                return
            outcome = await post(attempt.webhook.url, attempt.event.body, attempt.headers, attempt.event.challenge)
            if not await self._queries.run(record, attempt, outcome) or time.monotonic() >= ends:
                return

    async def _end_turns(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
