"""Runs another program to its end, also if a signal raises an exception meanwhile."""

import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STOPPING = (signal.SIGINT, signal.SIGTERM)


def run(command: Sequence[str | Path], *, ended_by: signal.Signals, **options: Any) -> int:
    """Return the exit status. On an exception (Ctrl-C) send `ended_by` to the program and wait for its end.

    `subprocess.run` would use SIGKILL, and would lose a program that `Popen` has started but not yet returned.
    """
    program: subprocess.Popen[bytes] | None = None
    try:
        with deferred_signals():
            program = subprocess.Popen(command, **options)
        return program.wait()
    except BaseException:
        if program is not None:
            program.send_signal(ended_by)
            program.wait()
        raise


@contextmanager
def deferred_signals() -> Iterator[None]:
    """SIGINT and SIGTERM that arrive in the block are handled after it."""
    if threading.current_thread() is not threading.main_thread():
        # Python handles signals in the main thread only.
        yield
        return
    arrived: list[int] = []
    handlers = {number: signal.signal(number, lambda number, _frame: arrived.append(number)) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for late in arrived:
            signal.raise_signal(late)
