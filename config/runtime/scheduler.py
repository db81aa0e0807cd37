"""Runs management commands periodically while the service runs, without cron.

Several hosts may run the same command at the same time. `HOUSEKEEPING_MINUTES=0` disables the scheduler.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config import env
from config.metrics import files

BASE_DIR = Path(__file__).resolve().parents[2]
COMMANDS = ("rollup_analytics", "announce_expiring_tokens", "person_jobs", "run_imports", "prune")
MINUTES = 60
NICENESS = 10


@contextmanager
def scheduled_commands() -> Iterator[None]:
    """Run the commands every HOUSEKEEPING_MINUTES. Leaving the block ends a running command."""
    minutes = env.integer("HOUSEKEEPING_MINUTES", MINUTES)
    if not minutes:
        yield
        return
    scheduler = Scheduler(minutes * 60)
    scheduler.start()
    try:
        yield
    finally:
        scheduler.stop()


class Scheduler(threading.Thread):
    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True, name="housekeeping")
        self._seconds = seconds
        self._stopped = threading.Event()
        # Guards `_running`, so that no command starts after `stop` has ended the running one.
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        while not self._stopped.wait(self._seconds):
            for command in COMMANDS:
                self._run(command)

    def stop(self) -> None:
        self._stopped.set()
        with self._lock:
            if self._running is not None:
                self._running.terminate()
        self.join()

    def _run(self, command: str) -> None:
        """Run a command in a separate process: it uses no thread of the workers, and prints its errors."""
        program = ["nice", "-n", str(NICENESS), sys.executable, str(BASE_DIR / "manage.py"), command]
        with self._lock:
            if self._stopped.is_set():
                return
            # Leave the terminal's process group: on Ctrl-C, `stop` ends it.
            started = time.monotonic()
            self._running = subprocess.Popen(
                program, stdout=subprocess.DEVNULL, start_new_session=True, env=files.unshared_environment()
            )
        status = self._running.wait()
        if not self._stopped.is_set():
            _record(command, status, time.monotonic() - started)


def _record(command: str, status: int, seconds: float) -> None:
    # `prometheus_client` must not be imported before the folder of its files is known.
    from config.metrics import definitions

    definitions.housekeeping_seconds.labels(command).set(seconds)
    if status:
        definitions.housekeeping_failures.labels(command).inc()
    else:
        definitions.housekeeping_at.labels(command).set(time.time())
