"""Bounds of processor time that hold on any machine."""

from __future__ import annotations

from time import thread_time

STEPS = 200_000
# Of the loop below, on the machine where the bounds were measured.
MEASURED_SECONDS = 0.01


def scaled(seconds: float) -> float:
    """The bound for this machine as it runs now: longer if it is slower, never shorter."""
    return seconds * max(1.0, min(_loop() for _ in range(3)) / MEASURED_SECONDS)


def _loop() -> float:
    began, total = thread_time(), 0
    for step in range(STEPS):
        total += step
    return thread_time() - began
