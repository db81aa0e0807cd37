"""The garbage collector during the start of a process.

A start makes two hundred thousand objects that live to the end. The collector would search them again and again: while
the process starts, at each full collection, and once more at the end.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def after_start() -> None:
    """Collect from now on, except what the start has made."""
    gc.freeze()
    gc.enable()


@contextmanager
def none_during_start() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        after_start()
