"""Runs a housekeeping command now, in a process that the web process starts, so that people do not wait an hour.

Unlike `kernel.jobs.due`, it needs no scheduler, which neither `manage.py runserver` nor HOUSEKEEPING_MINUTES=0 has, and
a command waits for no other one: an import may take hours. A command that ends early goes on at its next run.
"""

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
# One process of each command at a time.
_running: dict[str, threading.Lock] = defaultdict(threading.Lock)


def spawn_after_commit(command: str) -> None:
    """Unless a process of the command that this one has started still runs. Does nothing with PERSON_JOBS=0."""
    if settings.PERSON_JOBS:
        transaction.on_commit(partial(_spawn, command), robust=True)


def _spawn(command: str) -> None:
    if _running[command].acquire(blocking=False):
        threading.Thread(target=_run, args=[command], name=command, daemon=True).start()


def _run(command: str) -> None:
    """A long export takes no time of the requests, and its memory is given back."""
    program = ["nice", "-n", "10", sys.executable, str(settings.BASE_DIR / "manage.py"), command]
    try:
        subprocess.run(program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    except OSError as error:
        logger.error("%s could not be started: %s", command, error)  # noqa: TRY400  the text says it all
    finally:
        _running[command].release()
