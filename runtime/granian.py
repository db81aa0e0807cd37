"""The web server: granian, running the WSGI application in worker processes."""

import logging
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import IPv4Address, IPv6Address
from multiprocessing import resource_tracker
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from config import env
from config.logging import LOGGING
from runtime import bind_address, supervisor
from runtime.supervisor import STOP_SECONDS, count_restart, stop_with_parent

PORT = 8000
# Measured on two cores: more workers or threads only wait for one another.
WORKERS = 2
THREADS = 2
# Open connections of a worker; further ones wait in the backlog.
CONNECTIONS = 512
BACKLOG = 2048
# The longest idle time that granian accepts: the PostgreSQL connection of a thread lives as long as the thread.
THREAD_IDLE_SECONDS = 600
HEADER_MILLISECONDS = 10_000
POLL_SECONDS = 0.01
logger = logging.getLogger(__name__)


class PersistentServer(Server):  # type: ignore[misc,valid-type]  # granian picks the class by platform
    # Called when a stop begins.
    stopping: Callable[[], None] = staticmethod(lambda: None)
    # On SIGTERM the workers serve for so long after `draining` is called; Ctrl-C and a second signal stop at once.
    draining: Callable[[], None] = staticmethod(lambda: None)
    drain_seconds = 0.0
    _is_draining = False

    def signal_handler_interrupt(self, number: int = 0, *rest: Any) -> None:
        self._is_draining = number == signal.SIGTERM and not self.interrupt_signal
        super().signal_handler_interrupt(number, *rest)

    def shutdown(self, exit_code: int = 0) -> None:
        self._drain()
        super().shutdown(exit_code)

    def _drain(self) -> None:
        """Serve on until balancers have noticed that this host is not ready any more."""
        if not (self._is_draining and self.drain_seconds):
            return
        self.draining()
        deadline = time.monotonic() + self.drain_seconds
        while self._is_draining and time.monotonic() < deadline and any(worker.is_alive() for worker in self.wrks):
            time.sleep(POLL_SECONDS)

    def _spawn_workers(self, *arguments: Any) -> None:
        with blocked_interrupt():
            super()._spawn_workers(*arguments)

    def _respawn_workers(self, workers: list[int], *arguments: Any, **options: Any) -> None:
        """Respawn workers without granian's limit, which stops the server when a worker dies twice within seconds.

        `runtime.run` checks beforehand that the application loads.
        """
        for _worker in workers:
            count_restart("web")
        with blocked_interrupt():
            super()._respawn_workers(workers, *arguments, **options)
        self.respawned_wrks.clear()
        if self.interrupt_signal:
            # Granian clears this event after it has checked for a signal: one that arrives in between would be lost.
            self.main_loop_interrupt.set()

    def _stop_workers(self) -> None:
        """Stop the workers within STOP_SECONDS, and kill the others.

        Granian waits for each worker in two threads. One of them collects the exit status, and for a moment the other
        takes the worker for alive: granian then reports and kills a process that has ended.
        """
        self.stopping()
        for worker in self.wrks:
            worker.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        while (alive := [worker for worker in self.wrks if worker.is_alive()]) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        for worker in alive:
            logger.warning("Killing worker-%s: it did not stop within %s s", worker.idx + 1, STOP_SECONDS)
            worker.kill()
            worker.join()


@contextmanager
def blocked_interrupt() -> Iterator[None]:
    """Workers that are started in the block inherit that SIGINT is blocked, until `leave_terminal`.

    A Ctrl-C would end them before they can handle it, and granian would take that for a failure.
    """
    # Its first start, by the first worker, would unblock the signal.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def leave_terminal() -> None:
    """Leave its process group: the main process forwards Ctrl-C, and a worker that gets it twice hangs."""
    os.setpgrp()
    # While a signal is ignored, one that has arrived is discarded.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, handler)


def load_application() -> Callable[..., Any]:
    with supervisor.none_during_start():
        from config.wsgi import application

    return application


def start_worker(load: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """Runs in each worker; returns its application."""
    leave_terminal()
    main = multiprocessing.parent_process()
    if main is not None and main.pid is not None:
        stop_with_parent(main.pid)
    return load()


def serve(
    port: int,
    load: Callable[[], Callable[..., Any]] = load_application,
    *,
    drain_seconds: float = 0,
    draining: Callable[[], None] = lambda: None,
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve what `load` returns in each worker.

    Returns after SIGINT or SIGTERM, when the running requests have ended; `stopping` is called before it waits for
    them. SIGTERM stops after `drain_seconds`; `draining` is called before them. A killed worker is replaced.
    """
    # A fork would copy a process with running threads.
    multiprocessing.set_start_method("spawn")
    server = PersistentServer(
        "config.wsgi:application",
        address=str(bind_address.host()),
        port=port,
        interface=Interfaces.WSGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_MILLISECONDS),
        websockets=False,
        workers=env.integer("WORKERS", WORKERS, minimum=1),
        blocking_threads=env.integer("THREADS", THREADS, minimum=1),
        blocking_threads_idle_timeout=THREAD_IDLE_SECONDS,
        backlog=BACKLOG,
        backpressure=CONNECTIONS,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
        log_level=LogLevels.warning,
        log_dictconfig=LOGGING,
    )
    server.drain_seconds, server.draining, server.stopping = drain_seconds, draining, stopping
    server.serve(target_loader=partial(start_worker, load), wrap_loader=False)


def check_free(port: int, address: IPv4Address | IPv6Address) -> None:
    """Raises OSError. Granian's workers share a port, and would share that of another program as well."""
    with socket.socket(bind_address.family(address), socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((str(address), port))
