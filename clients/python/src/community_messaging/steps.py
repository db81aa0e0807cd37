"""What a call does, as a generator of steps: the two transports perform the same steps, one of them with `await`."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Send:
    """Returns the response, read."""

    request: httpx.Request


@dataclass(frozen=True, slots=True)
class Open:
    """Returns the response of a stream, whose events `Read` returns. Errors are read. It replaces an open stream."""

    request: httpx.Request


@dataclass(frozen=True, slots=True)
class Read:
    """Returns the next server-sent event of the open stream, None at its end."""


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Item:
    """One value of an iterator."""

    value: Any


Step = Send | Open | Read | Pause | Item
Steps = Generator[Step, Any, Result]


class Progress(Generic[Result]):
    """Where the steps of a call are. `step` is the next one, None after the last; then there is a result."""

    def __init__(self, steps: Steps[Result]) -> None:
        self._steps = steps
        self.step: Step | None = None
        self.result: Any = None
        self.advance(None)

    def advance(self, outcome: Any) -> None:
        """Hand the outcome of the step to the call. An httpx.RequestError is raised where the call waits."""
        try:
            if isinstance(outcome, httpx.RequestError):
                self.step = self._steps.throw(outcome)
            else:
                self.step = self._steps.send(outcome)
        except StopIteration as stop:
            self.step, self.result = None, stop.value

    def close(self) -> None:
        self._steps.close()
