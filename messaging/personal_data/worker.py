"""Starts a process that runs the jobs which are due, so that a person does not wait for the hourly run of a command."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections import defaultdict
from functools import partial

from django.conf import settings
from django.db import transaction

logger = logging.getLogger(__name__)
PERSON_JOBS = "person_jobs"
# One of this process at a time, by command.
_running: dict[str, threading.Lock] = defaultdict(threading.Lock)


def wake_worker() -> None:
    wake(PERSON_JOBS)


def wake(command: str) -> None:
    """After the commit, run the command once, unless a process that this one has started still runs."""
    if settings.PERSON_JOBS:
        transaction.on_commit(partial(_start, command), robust=True)


def _start(command: str) -> None:
    if _running[command].acquire(blocking=False):
        threading.Thread(target=_run, args=[command], name=command, daemon=True).start()


def _run(command: str) -> None:
    """In a separate process: a long export takes no time of the requests, and its memory is given back."""
    program = ["nice", "-n", "10", sys.executable, str(settings.BASE_DIR / "manage.py"), command]
    try:
        subprocess.run(program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    except OSError as error:
        # The hourly run goes on with it.
        logger.error("%s could not be started: %s", command, error)  # noqa: TRY400  the text says it all
    finally:
        _running[command].release()
