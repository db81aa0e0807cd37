"""A thread that runs programs, one at a time, and ends the running one within a few seconds when it is stopped."""

from __future__ import annotations

import subprocess
import threading
import time
from typing import Any

# How long a stop may take before the program is killed.
STOP_SECONDS = 3.0


class ProgramThread(threading.Thread):
    def __init__(self, name: str) -> None:
        super().__init__(daemon=True, name=name)
        self._stopped = threading.Event()
        # Guards `_running`, so that no program starts after `terminate` has ended the running one.
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._killed_at = 0.0

    def launch(self, program: list[str], **options: Any) -> subprocess.Popen[bytes] | None:
        """Start a program; None after `terminate`."""
        with self._lock:
            if self._stopped.is_set():
                return None
            # Leave the terminal's process group: on Ctrl-C, `terminate` ends it.
            self._running = subprocess.Popen(program, start_new_session=True, **options)
            return self._running

    def terminate(self) -> None:
        """Begin to stop, without waiting."""
        if not self._stopped.is_set():
            self._killed_at = time.monotonic() + STOP_SECONDS
        self._stopped.set()
        with self._lock:
            if self._running is not None:
                self._running.terminate()

    def stop(self) -> None:
        """Returns at most STOP_SECONDS after the first `terminate`."""
        self.terminate()
        self.join(max(0.0, self._killed_at - time.monotonic()))
        if self.is_alive() and self._running is not None:
            self._running.kill()
        self.join()
