"""Runs a management command beside the workers, and starts it again when it ends."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parents[2]
PAUSE_SECONDS = 0.5
# How long a stop may take before the command is killed.
STOP_SECONDS = 3.0
logger = logging.getLogger(__name__)


@contextmanager
def supervised(command: str) -> Iterator[None]:
    """The command runs in the block. It takes `--parent PID`, and stops when that process has ended."""
    supervisor = Supervisor(command)
    supervisor.start()
    try:
        yield
    finally:
        supervisor.stop()


class Supervisor(threading.Thread):
    def __init__(self, command: str) -> None:
        super().__init__(daemon=True, name=command)
        self._command = command
        self._stopped = threading.Event()
        # Guards `_running`, so that no process starts after `stop` has ended the running one.
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        while running := self._launch():
            status = running.wait()
            if not self._stopped.wait(PAUSE_SECONDS):
                logger.error("%s has ended with status %s; it is started again", self._command, status)

    def stop(self) -> None:
        self._stopped.set()
        with self._lock:
            running = self._running
        if running is not None:
            running.terminate()
            self.join(STOP_SECONDS)
            if self.is_alive():
                running.kill()
        self.join()

    def _launch(self) -> subprocess.Popen[bytes] | None:
        program = [sys.executable, str(BASE_DIR / "manage.py"), self._command, "--parent", str(os.getpid())]
        with self._lock:
            if self._stopped.is_set():
                return None
            # Leave the terminal's process group: on Ctrl-C, `stop` ends it.
            self._running = subprocess.Popen(program, cwd=BASE_DIR, start_new_session=True)
            return self._running
