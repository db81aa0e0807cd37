"""Memory in one piece for the frames of a function and of what it calls.

CPython takes memory for frames in pieces of 16 KB, and returns a piece as soon as no frame is in it. A loop that calls
functions just where a piece ends takes and returns one at each call, by two system calls: where the stack of a request
has an unlucky depth, the same text takes twenty times as long to parse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
# A frame of this size gets a piece of 128 KB, and leaves more than half of it to others. Nothing fills it.
SLOTS = 7_200


def with_frames_in_one_piece(function: Callable[P, R]) -> Callable[P, R]:
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_stacksize=SLOTS)
    return call
