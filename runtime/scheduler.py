"""Runs management commands periodically while the service runs, without cron, and at once if they are asked for.

Several hosts may run the same command at the same time. `HOUSEKEEPING_MINUTES=0` disables the scheduler.
"""

import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from config import env
from kernel.jobs import due
from kernel.metrics import files
from runtime.program_thread import ProgramThread

BASE_DIR = Path(__file__).resolve().parents[1]
ROLL_UP = "roll_up_desk"
COMMANDS = (
    "rollup_analytics",
    "announce_expiring_tokens",
    "person_jobs",
    "run_imports",
    "run_desk_jobs",
    "check_hosts",
    "prune",
    ROLL_UP,
    "make_partitions",
)
MINUTES = 60
NICENESS = 10
# How often the files of `kernel.jobs.due` are looked for, and the pause after a command that has failed.
LOOK_SECONDS, FAILED_SECONDS = 0.5, 10.0
NOT_STARTED = 1
logger = logging.getLogger(__name__)


@contextmanager
def scheduled_commands() -> Iterator[Callable[[], None]]:
    """Run the commands every HOUSEKEEPING_MINUTES, and when they are asked for. Leaving the block ends running ones.

    Yields the function that begins to end them before the block is left.
    """
    minutes = env.integer("HOUSEKEEPING_MINUTES", MINUTES)
    if not minutes:
        yield lambda: None
        return
    schedulers = (Scheduler(minutes * 60), OnDemand(env.folder("DATA_DIR", BASE_DIR / ".data")))
    for scheduler in schedulers:
        scheduler.start()

    def terminate() -> None:
        for scheduler in schedulers:
            scheduler.terminate()

    try:
        yield terminate
    finally:
        terminate()
        for scheduler in schedulers:
            scheduler.stop()


class Scheduler(ProgramThread):
    def __init__(self, seconds: float) -> None:
        super().__init__("housekeeping")
        self._seconds = seconds

    def run(self) -> None:
        # Stored, so that it is known when a run is late.
        interval = f"--interval={round(self._seconds / 60)}"
        while not self._stopped.wait(self._seconds):
            for command in COMMANDS:
                self._run(command, *([interval] if command == ROLL_UP else []))

    def _run(self, command: str, *options: str) -> bool:
        """Run a command in a separate process: it uses no thread of the workers, and prints its errors.

        Without the system checks, which the start of the service has passed. Returns whether it has succeeded.
        """
        manage = [sys.executable, str(BASE_DIR / "manage.py")]
        program = ["nice", "-n", str(NICENESS), *manage, command, "--skip-checks", *options]
        started = time.monotonic()
        try:
            running = self.launch(program, stdout=subprocess.DEVNULL, env=files.unshared_environment())
        except OSError:
            # Such as a machine without memory for another process.
            logger.exception("%s could not be started", command)
            status = NOT_STARTED
        else:
            if running is None:
                return False
            status = running.wait()
        if not self._stopped.is_set():
            _record(command, status, time.monotonic() - started)
        return status == 0


class OnDemand(Scheduler):
    """Runs what is asked for (`kernel.jobs.due`), beside the periodic commands: these may take minutes."""

    def __init__(self, data: Path) -> None:
        super().__init__(LOOK_SECONDS)
        self._data = data

    def run(self) -> None:
        while not self._stopped.wait(self._seconds):
            try:
                is_idle = self._run_one()
            except OSError:
                logger.exception("The folder of what is due cannot be used")
                is_idle = False
            if not is_idle:
                self._stopped.wait(FAILED_SECONDS)

    def _run_one(self) -> bool:
        """Whether nothing is left to repeat."""
        command = due.take(self._data, COMMANDS)
        if command is None:
            return True
        is_done = self._run(command)
        if is_done:
            due.finish(self._data, command)
        return is_done


def _record(command: str, status: int, seconds: float) -> None:
    # `prometheus_client` must not be imported before the folder of its files is known.
    from kernel.metrics import definitions

    definitions.housekeeping_seconds.labels(command).set(seconds)
    if status:
        definitions.housekeeping_failures.labels(command).inc()
    else:
        definitions.housekeeping_at.labels(command).set(time.time())
