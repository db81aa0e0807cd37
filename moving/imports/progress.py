"""Tells how far an import is: rate and remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

EVERY_SECONDS = 2.0
MEGABYTE = 1_000_000


class Step(NamedTuple):
    """`done` of `total` bytes that are read, or posts that are written or removed."""

    name: str
    done: int
    total: int


Tell = Callable[[Step], None]


def silent(step: Step) -> None:
    """Tells nothing."""


class ProgressLines:
    """Prints a line every two seconds, and one at the end of each step."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._name, self._began, self._told = "", 0.0, 0.0

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        if step.name != self._name:
            self._name, self._began, self._told = step.name, now, now
        if step.done >= step.total or now >= self._told + EVERY_SECONDS:
            self._told = now
            self._write(_line(step, now - self._began))


def _line(step: Step, seconds: float) -> str:
    rate = step.done / seconds if seconds > 0 else 0.0
    remaining = _duration((step.total - step.done) / rate) if rate else "unknown"
    if step.name == "reading":
        amounts = f"{step.done / MEGABYTE:,.1f} of {step.total / MEGABYTE:,.1f} MB, {rate / MEGABYTE:,.1f} MB/s"
    else:
        amounts = f"{step.done:,} of {step.total:,} posts, {rate:,.0f}/s"
    return f"{step.name}: {amounts}, {remaining} left"


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02}"
