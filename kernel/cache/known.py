"""Small values that many requests of a process need, known until one of their cache tags is invalidated."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from kernel.cache.versions import TagSnapshot, snapshot
from kernel.database.sql import current_alias

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
VALUES_MAX = 1_000


class KnownValues(Generic[Key, Value]):
    """A value is never older than a write that was acknowledged, as a cached response is (`kernel.cache.versions`)."""

    def __init__(self) -> None:
        self._known: dict[Key, tuple[TagSnapshot, float, Value]] = {}

    def get(self, key: Key, tags: tuple[str, ...], load: Callable[[], Value]) -> Value:
        """The value of a key, which `load` reads from the rows that `tags` name. What it raises is not stored."""
        known = self._known.get(key)
        if known is not None and time.monotonic() < known[1] and known[0].is_valid():
            return known[2]
        versions = snapshot(*tags)
        value = load()
        # A standby may be older than the versions that were noted here.
        if versions is not None and current_alias() == DEFAULT_DB_ALIAS:
            if len(self._known) >= VALUES_MAX:
                self._known.clear()
            self._known[key] = versions, time.monotonic() + settings.RESPONSE_CACHE_SECONDS, value
        return value
