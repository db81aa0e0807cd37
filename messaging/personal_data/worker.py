"""Starts a process that runs the jobs which are due, so that a person does not wait for the hourly one."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading

from django.conf import settings
from django.db import transaction

logger = logging.getLogger(__name__)
# One of this process at a time.
_running = threading.Lock()


def wake_worker() -> None:
    """After the commit, run `person_jobs` once, unless a process that this one has started still runs."""
    if settings.PERSON_JOBS:
        transaction.on_commit(_start, robust=True)


def _start() -> None:
    if _running.acquire(blocking=False):
        threading.Thread(target=_run, name="person jobs", daemon=True).start()


def _run() -> None:
    """In a separate process: a long export takes no time of the requests, and its memory is given back."""
    program = ["nice", "-n", "10", sys.executable, str(settings.BASE_DIR / "manage.py"), "person_jobs"]
    try:
        subprocess.run(program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    except OSError as error:
        # The hourly run goes on with it.
        logger.error("person_jobs could not be started: %s", error)  # noqa: TRY400  the text says it all
    finally:
        _running.release()
