"""Tells how far an import is: rate and remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

T = TypeVar("T")
EVERY_SECONDS = 2.0
EVERY_POSTS = 1_000
MEGABYTE = 1_000_000


class Step(NamedTuple):
    """`done` of `total` bytes (reading), reactions (reacting) or posts (all others)."""

    name: str
    done: int
    total: int


Tell = Callable[[Step], None]


def silent(step: Step) -> None:
    """Tells nothing."""


class Passes:
    """Tells of one step that looks at all posts several times: each time counts as a part of each post."""

    def __init__(self, name: str, *, tell: Tell, posts: int, passes: int) -> None:
        self._name, self._tell, self._posts, self._passes = name, tell, posts, passes
        self._before = 0

    def over(self, posts: Iterable[T]) -> Iterator[T]:
        """The same posts; one pass."""
        for number, post in enumerate(posts):
            if number % EVERY_POSTS == 0:
                self._tell_of(number)
            yield post
        self._before += self._posts
        self._tell_of(0)

    def _tell_of(self, number: int) -> None:
        done = min(self._before + number, self._posts * self._passes) // self._passes
        self._tell(Step(self._name, done, self._posts))


class ProgressLines:
    """Prints a line every two seconds, and one at the end of each step."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._last, self._began, self._told = Step("", 0, 0), 0.0, 0.0

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        if step.name != self._last.name:
            self._began, self._told = now, now
        has_ended = step.done >= step.total and step != self._last
        self._last = step
        if has_ended or now >= self._told + EVERY_SECONDS:
            self._told = now
            self._write(_line(step, now - self._began))


def _line(step: Step, seconds: float) -> str:
    rate = step.done / seconds if seconds > 0 else 0.0
    remaining = _duration((step.total - step.done) / rate) if rate else "unknown"
    if step.name == "reading":
        amounts = f"{step.done / MEGABYTE:,.1f} of {step.total / MEGABYTE:,.1f} MB, {rate / MEGABYTE:,.1f} MB/s"
    else:
        unit = "reactions" if step.name == "reacting" else "posts"
        amounts = f"{step.done:,} of {step.total:,} {unit}, {rate:,.0f}/s"
    return f"{step.name}: {amounts}, {remaining} left"


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02}"
