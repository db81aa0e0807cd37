"""The worker of a host: it gets jobs from the queue and runs each in a process of its own.

So a job that takes hours, or a lot of memory, delays no other one, statements have no time limit, and a job is stopped
by the end of its process. A worker tells every fifteen seconds that it lives. Jobs of one that does not are given to
others, whose processes take the leases of their rows.

It also runs the deliverers of webhooks and mails, which follow the change log and need no jobs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Protocol

import psycopg
from django.conf import settings
from django.db import close_old_connections
from django.utils.module_loading import import_string
from procrastinate import App, JobContext, PsycopgConnector
from procrastinate.exceptions import ConnectorException, JobAborted
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.utils import sync_to_async
from procrastinate.worker import Worker

from kernel.changes.wakeups import parameters
from kernel.database.sql import fetch_all, first_line
from kernel.jobs import queue
from kernel.jobs.models import HOST_MAX, JobNote
from kernel.metrics import definitions, files

# How many processes of jobs run at a time, and of those that may take hours.
PLACES, LONG_PLACES = 3, 2
NICENESS = 10
HEARTBEAT_SECONDS, STALLED_SECONDS = 15.0, 45.0
# Between two looks for rows without a job and for jobs without a worker; a notification starts a new job at once.
LOOK_SECONDS, POLL_SECONDS = 30.0, 30.0
# A process that does not end after SIGTERM is killed.
STOP_SECONDS = 3.0
PARENT_SECONDS = 1.0
AWAY_SECONDS = 2.0
# The pause after the first failure; each further one is three times as long, up to the longest.
FIRST_PAUSE, LONGEST_PAUSE = 10, 3600
HOUSEKEEPING_ATTEMPTS = 3
DAYS_STORED = 7
CLEAN_SECONDS = 3600.0
AT_ONCE = datetime(2000, 1, 1, tzinfo=UTC)
OLDEST = """
SELECT coalesce(extract(epoch FROM max(now() - greatest(coalesce(job.scheduled_at, event.at), event.at))), 0)::float
FROM procrastinate_jobs job
JOIN LATERAL (SELECT max(at) AS at FROM procrastinate_events WHERE job_id = job.id) event ON true
WHERE job.status = 'todo' AND coalesce(job.scheduled_at, now()) <= now()
"""
logger = logging.getLogger(__name__)


class Failed(Exception):
    """The process of a job has failed. `retry_at` is by the clock of the database, as hosts may have others."""

    def __init__(self, text: str, retry_at: datetime) -> None:
        super().__init__(text)
        self.retry_at = retry_at


class Retry(BaseRetryStrategy):
    def __init__(self, attempts_max: int | None = None) -> None:
        self._attempts_max = attempts_max

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            # The worker stops.
            return RetryDecision(retry_at=AT_ONCE)
        is_last = self._attempts_max is not None and job.attempts + 1 >= self._attempts_max
        if is_last or not isinstance(exception, Failed):
            return None
        return RetryDecision(retry_at=exception.retry_at)


class Deliverer(Protocol):
    """`run` ends after `stop`."""

    async def run(self) -> None: ...

    def stop(self) -> None: ...


async def serve(parent: int | None) -> None:
    """Run until a signal, or the end of the process `parent`. A database that is away for some time ends nothing."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    watching = asyncio.create_task(_stop_without(parent, stop))
    await asyncio.gather(_run_jobs(stop), *(deliver(path, stop) for path in deliverers()))
    watching.cancel()


def deliverers() -> list[str]:
    return [path for setting, path in settings.DELIVERERS.items() if getattr(settings, setting)]


async def _run_jobs(stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            await Host(stop).run()
        except (ConnectorException, psycopg.Error, OSError) as error:
            logger.warning("The worker waits for PostgreSQL: %s", first_line(error))
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), AWAY_SECONDS)


async def deliver(path: str, stop: asyncio.Event) -> None:
    """A defect of a deliverer ends neither the jobs nor the others."""
    while not stop.is_set():
        deliverer: Deliverer = import_string(path)()
        stopping = asyncio.create_task(_stop_at(stop, deliverer))
        try:
            await deliverer.run()
        except Exception:
            logger.exception("%s has ended; it is started again", path)
            await asyncio.sleep(AWAY_SECONDS)
        finally:
            stopping.cancel()


async def _stop_at(stop: asyncio.Event, deliverer: Deliverer) -> None:
    await stop.wait()
    deliverer.stop()


async def _stop_without(parent: int | None, stop: asyncio.Event) -> None:
    while parent is not None and os.getppid() == parent:
        await asyncio.sleep(PARENT_SECONDS)
    if parent is not None:
        stop.set()


class Host:
    """The workers of this host, with one pool of connections, until they stop or PostgreSQL does not answer."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop
        self._running: set[int] = set()
        # Jobs that the last look has found without a process.
        self._lost: set[int] = set()
        self._cleaned_at = 0.0
        connector = PsycopgConnector(kwargs=parameters("worker"), min_size=1, max_size=4, timeout=5.0)
        # A first start runs what was due at the last hour, and a restart what no worker has run meanwhile.
        self._app = App(connector=connector, periodic_defaults={"max_delay": 60 * settings.HOUSEKEEPING_MINUTES})
        row_jobs = queue.row_jobs()
        long = [name for name, job in row_jobs.items() if job.is_long]
        short = [name for name in queue.names() if name not in long]
        for name in queue.names():
            attempts_max = HOUSEKEEPING_ATTEMPTS if name in settings.HOUSEKEEPING else None
            task = self._app.task(name=name, queue=name, pass_context=True, retry=Retry(attempts_max))(self._run_job)
            if name in settings.HOUSEKEEPING and settings.HOUSEKEEPING_MINUTES:
                lock = queue.lock_of(name)
                cron = queue.cron_of(settings.HOUSEKEEPING_MINUTES)
                self._app.periodic(cron=cron, queue=name, lock=lock, queueing_lock=lock)(task)  # type: ignore[arg-type]  # by name
        self._workers = [self._worker(short, PLACES), self._worker(long, LONG_PLACES)]

    def _worker(self, queues: Iterable[str], places: int) -> Worker:
        return Worker(
            app=self._app,
            queues=list(queues),
            name=platform.node()[:HOST_MAX],
            concurrency=places,
            fetch_job_polling_interval=POLL_SECONDS,
            abort_job_polling_interval=POLL_SECONDS,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_SECONDS,
            shutdown_graceful_timeout=0.1,
            install_signal_handlers=False,
        )

    async def run(self) -> None:
        async with self._app.open_async():
            tasks = [asyncio.create_task(worker.run()) for worker in self._workers]  # type: ignore[no-untyped-call]
            tasks.append(asyncio.create_task(self._look()))
            stopping = asyncio.create_task(self._stop.wait())
            try:
                done, _others = await asyncio.wait({*tasks, stopping}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for worker in self._workers:
                    worker.stop()  # type: ignore[no-untyped-call]
                tasks[-1].cancel()
                stopping.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            for task in done - {stopping}:
                task.result()

    async def _run_job(self, context: JobContext, key: str | None = None, timestamp: int | None = None) -> None:
        """`timestamp`: the engine names the hour of a periodic job."""
        job = context.job
        if job.id is None:
            return
        self._running.add(job.id)
        began, status = time.monotonic(), 1
        try:
            await sync_to_async(_note, job.id, host=platform.node()[:HOST_MAX])
            status = await _run_process(job, key)
        except asyncio.CancelledError:
            if context.abort_reason() == AbortReason.USER_REQUEST:
                raise JobAborted from None
            raise
        finally:
            self._running.discard(job.id)
        if key is None:
            _count(job.task_name, status, time.monotonic() - began)
        if status:
            if status < 0:
                await sync_to_async(_note, job.id, error=f"The process has ended by signal {-status}.")
            pause = min(FIRST_PAUSE * 3 ** min(job.attempts, 10), LONGEST_PAUSE)
            query = "SELECT now() + make_interval(secs => %(pause)s) AS at"
            row = await self._app.connector.execute_query_one_async(query, pause=pause)
            raise Failed(f"{job.task_name} has ended with status {status}", row["at"])

    async def _look(self) -> None:
        while True:
            await self._give_back()
            await sync_to_async(_look_for_rows)
            if time.monotonic() > self._cleaned_at + CLEAN_SECONDS:
                self._cleaned_at = time.monotonic()
                await self._app.job_manager.delete_old_jobs(
                    nb_hours=24 * DAYS_STORED, include_failed=True, include_cancelled=True, include_aborted=True
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def _give_back(self) -> None:
        """Put jobs into the queue again whose worker has ended, or which have ended while PostgreSQL was away."""
        manager = self._app.job_manager
        stalled = list(await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS))
        own = {worker.worker_id for worker in self._workers}
        held = await manager.list_jobs_async(status="doing")
        lost = {job.id for job in held if job.worker_id in own and job.id is not None} - self._running
        stalled += [job for job in held if job.id in lost & self._lost]
        self._lost = lost
        for job in stalled:
            with suppress(ConnectorException):
                await manager.retry_job(job=job, retry_at=AT_ONCE)
                logger.warning("%s goes on: the worker that ran it has ended", job.call_string)


async def _run_process(job: Job, key: str | None) -> int:
    """Run a job, and return the status of its process, which ends with this one."""
    manage = [sys.executable, str(settings.BASE_DIR / "manage.py"), "run_job", job.task_name, "--skip-checks"]
    options = ["--job", str(job.id), "--parent", str(os.getpid()), *(["--key", key] if key else [])]
    process = await asyncio.create_subprocess_exec(
        *("nice", "-n", str(NICENESS)),
        *manage,
        *options,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        env=files.unshared_environment(),
        # Outside the terminal's process group, so that Ctrl-C does not end it before its worker does.
        start_new_session=True,
    )
    try:
        return await process.wait()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        raise


def _note(job_id: int, **values: str) -> None:
    close_old_connections()
    JobNote.objects.update_or_create(job_id=job_id, defaults=values)


def _look_for_rows() -> None:
    close_old_connections()
    queue.enqueue_found()
    ((seconds,),) = fetch_all(OLDEST)
    definitions.oldest_job_seconds.set(seconds)


def _count(command: str, status: int, seconds: float) -> None:
    definitions.housekeeping_seconds.labels(command).set(seconds)
    if status:
        definitions.housekeeping_failures.labels(command).inc()
    else:
        definitions.housekeeping_at.labels(command).set(time.time())
