"""Asks the scheduler of this host to run a housekeeping command now: by a file in the data folder.

A file stays until its command has succeeded, so that the next start of the service goes on with it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path

FOLDER = "due"
RUNNING = ".running"
logger = logging.getLogger(__name__)


def ask_for(data: Path, command: str) -> None:
    """Where it fails, the command runs at its next time."""
    try:
        (data / FOLDER).mkdir(exist_ok=True)
        (data / FOLDER / command).touch()
    except OSError as error:
        logger.warning("%s was not asked for: %s", command, error)


def take(data: Path, commands: Collection[str]) -> str | None:
    """One of `commands` that was asked for, or that has begun and not succeeded. Only the scheduler calls it."""
    folder = data / FOLDER
    for command in commands:
        asked, running = folder / command, folder / f"{command}{RUNNING}"
        if asked.exists():
            # What is asked for from now on is another run.
            asked.replace(running)
        if running.exists():
            return command
    return None


def finish(data: Path, command: str) -> None:
    (data / FOLDER / f"{command}{RUNNING}").unlink(missing_ok=True)
