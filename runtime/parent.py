"""Ends a process whose parent has ended: it would block the port of the next start."""

import logging
import os
import signal
import threading
import time

POLL_SECONDS = 0.2
# A stop waits this long for running requests: a statement may take 5 s. Granian also waits for half-sent requests and
# for responses that a client does not read; after this time the process is killed, and PostgreSQL rolls back.
STOP_SECONDS = 5
logger = logging.getLogger(__name__)


def stop_with_parent(pid: int) -> None:
    """When the parent `pid` has ended: SIGTERM to this process, which is killed if it still runs after STOP_SECONDS."""
    threading.Thread(target=_watch, args=(pid,), daemon=True, name="parent").start()


def _watch(pid: int) -> None:
    while os.getppid() == pid:
        time.sleep(POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_SECONDS)
    logger.warning("The main process has ended; this one did not stop within %s s", STOP_SECONDS)
    # Python's own exit would wait for threads.
    os.kill(os.getpid(), signal.SIGKILL)
