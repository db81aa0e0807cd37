"""Whether work grows with its input alone: the ratio of two durations, which holds on any machine."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

# A busy machine slows down some attempts; work that grows faster than its input fails all of them.
ATTEMPTS = 6
TIMES = 4


def is_linear(work: Callable[[int], object], size: int) -> bool:
    """Whether four times the size takes less than eight times as long; squared work would take sixteen times."""
    return any(_seconds(work, TIMES * size) < 2 * TIMES * _seconds(work, size) for _ in range(ATTEMPTS))


def _seconds(work: Callable[[int], object], size: int) -> float:
    began = thread_time()
    work(size)
    return thread_time() - began
