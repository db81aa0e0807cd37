"""Runs a program beside the workers, and starts it again when it ends.

Ends a process whose parent has ended: it would block the port of the next start.

The garbage collector during the start of a process.

A start makes two hundred thousand objects that live to the end. The collector would search them again and again: while
the process starts, at each full collection, and once more at the end.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.program_thread import ProgramThread

POLL_SECONDS = 0.2
# A stop waits this long for running requests: a statement may take 5 s. Granian also waits for half-sent requests and
# for responses that a client does not read; after this time the process is killed, and PostgreSQL rolls back.
STOP_SECONDS = 5
logger = logging.getLogger(__name__)


def stop_with_parent(pid: int) -> None:
    """When the parent `pid` has ended: SIGTERM to this process, which is killed if it still runs after STOP_SECONDS."""
    threading.Thread(target=_watch, args=(pid,), daemon=True, name="parent").start()


def _watch(pid: int) -> None:
    while os.getppid() == pid:
        time.sleep(POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_SECONDS)
    logger.warning("The main process has ended; this one did not stop within %s s", STOP_SECONDS)
    # Python's own exit would wait for threads.
    os.kill(os.getpid(), signal.SIGKILL)


BASE_DIR = Path(__file__).resolve().parents[1]
PAUSE_SECONDS = 0.5


@contextmanager
def supervised(*arguments: str) -> Iterator[Callable[[], None]]:
    """A Python program (`arguments` of the interpreter) runs in the block.

    It also takes `--parent PID`, and stops when that process has ended. Yields the function that begins to stop it
    before the block is left.
    """
    supervisor = Supervisor(arguments)
    supervisor.start()
    try:
        yield supervisor.terminate
    finally:
        supervisor.stop()


def count_restart(process: str) -> None:
    # `prometheus_client` must not be imported before the folder of its files is known.
    from kernel.metrics.definitions import restarts

    restarts.labels(process).inc()


class Supervisor(ProgramThread):
    """The thread starts the program, which may end when this thread does."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        super().__init__(arguments[-1])
        self._arguments = arguments

    def run(self) -> None:
        while not self._stopped.is_set():
            result = self._run_once()
            if not self._stopped.wait(PAUSE_SECONDS):
                logger.error("%s %s; it is started again", self.name, result)
                count_restart(self.name)

    def _run_once(self) -> str:
        """Run the program until it ends. Returns what happened, for the log."""
        try:
            program = [sys.executable, *self._arguments, "--parent", str(os.getpid())]
            running = self.launch(program, cwd=BASE_DIR)
        except OSError as error:
            # Such as a machine without memory for another process.
            return f"could not be started ({error})"
        return f"has ended with status {running and running.wait()}"


def after_start() -> None:
    """Collect from now on, except what the start has made."""
    gc.freeze()
    gc.enable()


@contextmanager
def none_during_start() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        after_start()
