"""Runs a program beside the workers, and starts it again when it ends."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parents[2]
PAUSE_SECONDS = 0.5
# How long a stop may take before the program is killed.
STOP_SECONDS = 3.0
logger = logging.getLogger(__name__)


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
    from config.metrics.definitions import restarts

    restarts.labels(process).inc()


class Supervisor(threading.Thread):
    """The thread starts the program, which may end when this thread does."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        super().__init__(daemon=True, name=arguments[-1])
        self._arguments = arguments
        self._stopped = threading.Event()
        # Guards `_running`, so that no process starts after `terminate` has ended the running one.
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._killed_at = 0.0

    def run(self) -> None:
        while not self._stopped.is_set():
            result = self._run_once()
            if not self._stopped.wait(PAUSE_SECONDS):
                logger.error("%s %s; it is started again", self.name, result)
                count_restart(self.name)

    def _run_once(self) -> str:
        """Run the program until it ends. Returns what happened, for the log."""
        try:
            running = self._launch()
        except OSError as error:
            # Such as a machine without memory for another process.
            return f"could not be started ({error})"
        return f"has ended with status {running and running.wait()}"

    def terminate(self) -> None:
        if not self._stopped.is_set():
            self._killed_at = time.monotonic() + STOP_SECONDS
        self._stopped.set()
        with self._lock:
            if self._running is not None:
                self._running.terminate()

    def stop(self) -> None:
        self.terminate()
        self.join(max(0.0, self._killed_at - time.monotonic()))
        if self.is_alive() and self._running is not None:
            self._running.kill()
        self.join()

    def _launch(self) -> subprocess.Popen[bytes] | None:
        program = [sys.executable, *self._arguments, "--parent", str(os.getpid())]
        with self._lock:
            if self._stopped.is_set():
                return None
            # Leave the terminal's process group: on Ctrl-C, `terminate` ends it.
            self._running = subprocess.Popen(program, cwd=BASE_DIR, start_new_session=True)
            return self._running
