"""The files in which the processes of one host share their metrics (the multiprocess mode of `prometheus_client`).

A process that has ended leaves its files, so that totals do not go down; the next start of the service deletes them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil

FOLDER = "metrics"
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def share(data: Path) -> Path:
    """Let this process and those that it starts share their metrics; returns the folder.

    Before the first import of `prometheus_client`, which chooses where it stores values when it is imported.
    """
    if "prometheus_client" in sys.modules:
        raise RuntimeError("prometheus_client was imported before its folder is known.")
    folder = data / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    os.environ[VARIABLE] = str(folder)
    return folder


def clear(folder: Path) -> None:
    """Delete what the last run has left. Before this process counts: in a container it has the id of the last run."""
    for file in folder.glob("*.db"):
        if _pid_of(file) in (None, os.getpid()) or not _runs(file):
            file.unlink(missing_ok=True)


def folder() -> Path | None:
    """The folder of shared metrics; None if this process does not share them."""
    value = os.environ.get(VARIABLE)
    return Path(value) if value else None


def unshared_environment() -> dict[str, str]:
    """The environment of a command that counts nothing: it would leave files."""
    return {name: value for name, value in os.environ.items() if name != VARIABLE}


def mark_ended(folder: Path) -> None:
    """Let the library forget the gauges of processes that have ended. Their counts stay in their files."""
    from prometheus_client.multiprocess import mark_process_dead

    for pid in {_pid_of(file) for file in folder.glob("*.db") if not _runs(file)}:
        mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]


def _pid_of(file: Path) -> int | None:
    number = file.stem.rpartition("_")[2]
    return int(number) if number.isdecimal() else None


def _runs(file: Path) -> bool:
    try:
        return bool(psutil.Process(_pid_of(file) or 0).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
