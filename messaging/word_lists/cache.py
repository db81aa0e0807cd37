from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """A thread-safe LRU cache, which calls `make` for a missing key.

    It is bounded in bytes, because sizes differ by a factor of a thousand. The last requested value is never evicted,
    even if it exceeds the bound.
    """

    def __init__(self, *, make: Callable[[Key], Value], size: Callable[[Value], int], bytes_max: int) -> None:
        self._make, self._size, self._bytes_max = make, size, bytes_max
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()
        self.bytes = 0

    def get(self, key: Key) -> Value:
        # `make` runs inside the lock, for milliseconds, so that two threads do not create the same value.
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            else:
                self._add(key, self._make(key))
            return self._values[key][0]

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self.bytes = 0

    def _add(self, key: Key, value: Value) -> None:
        size = self._size(value)
        self._values[key] = value, size
        self.bytes += size
        while self.bytes > self._bytes_max and len(self._values) > 1:
            self.bytes -= self._values.popitem(last=False)[1][1]
