"""Runs a program beside the workers, and starts it again when it ends."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.program_thread import ProgramThread

BASE_DIR = Path(__file__).resolve().parents[1]
PAUSE_SECONDS = 0.5
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
