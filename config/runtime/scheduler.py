"""What has to be done every so often, done while the service runs: no cron is needed.

The commands are safe beside themselves, so several hosts may each do it. `HOUSEKEEPING_MINUTES=0` leaves it to others.
"""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config import env

BASE_DIR = Path(__file__).resolve().parents[2]
COMMANDS = ("rollup_analytics", "prune")
MINUTES = 60
NICENESS = 10


@contextmanager
def scheduled_commands() -> Iterator[None]:
    """Runs the commands once every HOUSEKEEPING_MINUTES until the block is left, which ends the one at work."""
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
        # No command may begin between the look at `_stopped` and the end of the one at work.
        self._turn = threading.Lock()
        self._at_work: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        while not self._stopped.wait(self._seconds):
            for command in COMMANDS:
                self._run(command)

    def stop(self) -> None:
        self._stopped.set()
        with self._turn:
            if self._at_work is not None:
                self._at_work.terminate()
        self.join()

    def _run(self, command: str) -> None:
        """A process of its own: it takes no thread from the workers, and a failure is said and done with."""
        program = ["nice", "-n", str(NICENESS), sys.executable, str(BASE_DIR / "manage.py"), command]
        with self._turn:
            if self._stopped.is_set():
                return
            # Out of the terminal's process group: a Ctrl-C reaches it through `stop`.
            self._at_work = subprocess.Popen(program, stdout=subprocess.DEVNULL, start_new_session=True)
        self._at_work.wait()
