"""Runs the stream process beside the workers, and starts it again when it dies."""

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

from config.runtime.streams import PARENT, STOP_SECONDS

BASE_DIR = Path(__file__).resolve().parents[2]
PAUSE_SECONDS = 0.5
# Of a process that does not end within STOP_SECONDS, before it is killed.
GRACE_SECONDS = 1.0
logger = logging.getLogger(__name__)


@contextmanager
def stream_process() -> Iterator[Callable[[], None]]:
    """The process runs in the block. Yields the function that ends its streams before the block is left."""
    supervisor = Supervisor()
    supervisor.start()
    try:
        yield supervisor.terminate
    finally:
        supervisor.stop()


class Supervisor(threading.Thread):
    """The thread starts the process, which ends when this thread does."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="streams")
        self._stopped = threading.Event()
        # Guards `_running`, so that no process starts after `terminate` has ended the running one.
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._killed_at = 0.0

    def run(self) -> None:
        while running := self._launch():
            status = running.wait()
            if not self._stopped.wait(PAUSE_SECONDS):
                logger.error("The stream process has ended with status %s; it is started again", status)

    def terminate(self) -> None:
        if not self._stopped.is_set():
            self._killed_at = time.monotonic() + STOP_SECONDS + GRACE_SECONDS
        self._stopped.set()
        with self._lock:
            if self._running is not None:
                self._running.terminate()

    def stop(self) -> None:
        self.terminate()
        self.join(max(0.1, self._killed_at - time.monotonic()))
        if self._running is not None and self.is_alive():
            self._running.kill()
            self.join()

    def _launch(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._stopped.is_set():
                return None
            self._running = subprocess.Popen(
                [sys.executable, "-m", "config.runtime.streams"],
                cwd=BASE_DIR,
                env=os.environ | {PARENT: str(os.getpid())},
                # Leave the terminal's process group: on Ctrl-C, `terminate` ends it.
                start_new_session=True,
            )
            return self._running
