"""The mark of a host that is about to stop: a file in the data folder, which every worker sees."""

from __future__ import annotations

from pathlib import Path

NAME = "draining"


def begin(data: Path) -> None:
    (data / NAME).touch()


def end(data: Path) -> None:
    """Also at a start: a killed process has left the mark."""
    (data / NAME).unlink(missing_ok=True)


def is_draining(data: Path) -> bool:
    return (data / NAME).exists()
