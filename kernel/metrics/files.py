"""The files in which the processes of one host share their metrics (the multiprocess mode of `prometheus_client`).

A process that has ended leaves its files. Their counts are added to a common file, so that totals do not go down and
the number of files is bounded.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from operator import add
from pathlib import Path

import psutil

FOLDER = "metrics"
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
ENDED = "ended"
# How the values of processes that have ended become one, by kind of file. Files of `gauge_live…` are deleted.
MERGED: dict[str, Callable[[float, float], float]] = {"counter": add, "histogram": add, "gauge_max": max}


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
    with locked(folder):
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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else reads or merges files in the block. The lock ends with its process."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def merge_ended(folder: Path) -> None:
    """Merge the files of processes that have ended. Call it under the lock."""
    ended = [file for file in folder.glob("*.db") if _pid_of(file) is not None and not _runs(file)]
    for kind, combine in MERGED.items():
        if files := [file for file in ended if file.stem.rpartition("_")[0] == kind]:
            try:
                _merge(folder / f"{kind}_{ENDED}.db", files, combine)
            except OSError:
                # On a full disk they are read as they are, and merged when there is room.
                ended = [file for file in ended if file not in files]
    for file in ended:
        file.unlink(missing_ok=True)


def _merge(target: Path, files: list[Path], combine: Callable[[float, float], float]) -> None:
    """Raises OSError, and changes nothing then."""
    from kernel.metrics.allocated import AllocatedDict

    values: dict[str, float] = {}
    for file in (target, *files):
        # A process that was killed while it added a value may leave a file that cannot be read.
        with suppress(FileNotFoundError, RuntimeError, ValueError, struct.error):
            for key, value in _read(file):
                values[key] = combine(values.get(key, 0.0), value)
    if not values:
        return
    new = target.with_suffix(".new")
    new.unlink(missing_ok=True)
    merged = AllocatedDict(str(new))
    try:
        for key, value in values.items():
            merged.reserve(key)
            merged.write_value(key, value, 0.0)
        merged.close()  # type: ignore[no-untyped-call]
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def _read(file: Path) -> list[tuple[str, float]]:
    """All entries, or an exception."""
    from prometheus_client.mmap_dict import MmapedDict

    entries = [
        (key, value)
        for key, value, _time, _position in MmapedDict.read_all_values_from_file(file)  # type: ignore[no-untyped-call]
    ]
    for key, _value in entries:
        json.loads(key)
    return entries


def _pid_of(file: Path) -> int | None:
    number = file.stem.rpartition("_")[2]
    return int(number) if number.isdecimal() else None


def _runs(file: Path) -> bool:
    try:
        return bool(psutil.Process(_pid_of(file) or 0).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
