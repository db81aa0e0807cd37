"""Faults of the stream process."""

from __future__ import annotations

import psutil
import psycopg

from tests.service import Service

LISTENER = "community-messaging streams"
TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"


def stream_processes(service: Service) -> list[psutil.Process]:
    assert service.process
    children = psutil.Process(service.process.pid).children()
    return [child for child in children if _is_stream_process(child)]


def kill_stream_process(service: Service) -> None:
    for process in stream_processes(service):
        process.kill()


def terminate_listener(service: Service) -> None:
    with psycopg.connect(service.cluster.url, autocommit=True) as connection:
        connection.execute(TERMINATE, [LISTENER])


def _is_stream_process(process: psutil.Process) -> bool:
    try:
        return "config.runtime.streams" in process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
