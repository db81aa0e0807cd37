"""Collects notices and sends mails until it is stopped. Queries and SMTP run in a few threads.

It sleeps until PostgreSQL tells of new rows of the change log or the next mail is due. A mail whose server is slow
occupies one of the senders; notices are collected, and other mails sent, meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress

from django.conf import settings
from django.db import Error
from django.utils.module_loading import import_string

from kernel.changes.wakeups import Threads, listen
from kernel.database.sql import first_line
from mails.collecting import collect, is_behind
from mails.outcomes import Outcome
from mails.sending import due_mailings, seconds_to_next, send

SENDERS = 4
# The pause between two rounds: at least, while rows wait for an older transaction to end, and at most, as a wake-up may
# get lost.
PAUSE_SECONDS, BEHIND_SECONDS, IDLE_SECONDS = 0.5, 1.0, 60.0
# Not longer than IDLE_SECONDS.
ROUND_SECONDS = 60.0
# While the mail server cannot be reached: the first pause, and the longest.
AWAY_SECONDS, AWAY_MAX_SECONDS = 5.0, 300.0
# How long a stop waits for what is under way: a mail that the server accepts meanwhile is not sent again.
STOP_SECONDS = 2.0
logger = logging.getLogger(__name__)


class Deliverer:
    """Runs until `stop`, which may be called by a signal handler of the loop."""

    def __init__(self) -> None:
        self._threads = Threads("mails", count=1)
        self._senders = Threads("senders", count=SENDERS)
        self._sending: set[asyncio.Task[None]] = set()
        self._due = asyncio.Event()
        self._stopped = asyncio.Event()
        self._away_seconds = 0.0
        self._away_until = 0.0
        self._rounds_at = 0.0

    async def run(self) -> None:
        listening = asyncio.create_task(listen(self._due.set, name="mails"))
        delivering = asyncio.create_task(self._deliver())
        stopping = asyncio.create_task(self._stopped.wait())
        await asyncio.wait({delivering, stopping}, return_when=asyncio.FIRST_COMPLETED)
        listening.cancel()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(delivering, *self._sending), STOP_SECONDS)

    def stop(self) -> None:
        """A mail that is being sent and does not end soon is sent again after the lease has expired."""
        self._stopped.set()
        self._due.set()

    async def _deliver(self) -> None:
        while not self._stopped.is_set():
            await self._wait(await self._round())

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._due.wait(), seconds)
        except TimeoutError:
            return
        await asyncio.sleep(0 if self._stopped.is_set() else PAUSE_SECONDS)
        self._due.clear()

    async def _round(self) -> float:
        """Do what can be done now; returns the seconds until there may be more."""
        try:
            await self._run_rounds()
            while await self._threads.run(collect) and not self._stopped.is_set():
                pass
            await self._send_due()
            return await self._idle_seconds()
        except Error as failure:
            logger.warning("No mails were sent: %s", first_line(failure))
        except Exception:
            # A defect. The notices wait in the database.
            logger.exception("No mails were sent")
        return BEHIND_SECONDS

    async def _run_rounds(self) -> None:
        """The functions of MAIL_ROUNDS, at most once in ROUND_SECONDS."""
        now = asyncio.get_running_loop().time()
        if now >= self._rounds_at:
            self._rounds_at = now + ROUND_SECONDS
            for path in settings.MAIL_ROUNDS:
                await self._threads.run(import_string(path))

    async def _idle_seconds(self) -> float:
        if await self._threads.run(is_behind):
            return BEHIND_SECONDS
        if len(self._sending) == SENDERS:
            # The end of one of them is told.
            return IDLE_SECONDS
        due_in = await self._threads.run(seconds_to_next)
        pause = IDLE_SECONDS if due_in is None else min(IDLE_SECONDS, due_in)
        return max(PAUSE_SECONDS, pause, self._away_for())

    async def _send_due(self) -> None:
        """Begin to send what is due, unless the server is away, by the senders that are free."""
        free = SENDERS - len(self._sending)
        if not free or self._away_for():
            return
        mailings = await self._threads.run(due_mailings)
        queue = iter(mailings)
        if not self._stopped.is_set():
            self._sending |= {asyncio.create_task(self._send_each(queue)) for _ in mailings[:free]}

    async def _send_each(self, queue: Iterator[int]) -> None:
        try:
            for mailing_id in queue:
                if self._stopped.is_set() or self._away_for():
                    return
                self._note(await self._senders.run(send, mailing_id))
        except Error as failure:
            logger.warning("A mail was not sent: %s", first_line(failure))
        except Exception:
            # A defect. The mail is tried again when its lease has expired.
            logger.exception("A mail was not sent")
        finally:
            self._sending -= {asyncio.current_task()}
            # There may be more.
            self._due.set()

    def _note(self, outcome: Outcome | None) -> None:
        if outcome is Outcome.AWAY:
            if not self._away_for():
                self._away_seconds = min(max(2 * self._away_seconds, AWAY_SECONDS), AWAY_MAX_SECONDS)
                self._away_until = asyncio.get_running_loop().time() + self._away_seconds
        elif outcome is not None:
            self._away_seconds = self._away_until = 0.0

    def _away_for(self) -> float:
        return max(0.0, self._away_until - asyncio.get_running_loop().time())
