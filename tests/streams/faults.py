"""Faults of the stream process."""

from __future__ import annotations

import time

import psutil
import psycopg

from tests.service import Service
from tests.waiting import PATIENCE_SECONDS

LISTENER = "community-messaging streams"
# Waits until the sessions have ended: the next call does not find them, and a later request gets another connection.
TERMINATE = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = %s"


def stream_processes(service: Service) -> list[psutil.Process]:
    return service.supervised("runtime.streams")


def kill_stream_process(service: Service) -> None:
    """Kill the running stream process, and wait until it has ended."""
    processes = stream_processes(service)
    assert processes, "no stream process runs"
    for process in processes:
        process.kill()
    assert psutil.wait_procs(processes, timeout=PATIENCE_SECONDS)[1] == []


def terminate_listener(service: Service) -> None:
    """Terminate the connection that listens, as soon as there is one."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with psycopg.connect(service.cluster.url, autocommit=True) as connection:
        while (True,) not in connection.execute(TERMINATE, [LISTENER]).fetchall():
            assert time.monotonic() < deadline, "no connection listens"
            time.sleep(0.02)
