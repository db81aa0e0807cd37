"""Counts the open streams of each client address and of each token, in the one process that serves streams."""

from __future__ import annotations

import threading
from collections import Counter

from django.conf import settings

from kernel.changes.streams.exceptions import TooManyStreams

Slot = tuple[tuple[str, str], ...]


class Slots:
    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        # Streams are opened in threads.
        self._lock = threading.Lock()

    def take(self, *, address: str, token: str) -> Slot:
        """Count one stream; raises TooManyStreams (429). An empty `token` is not counted."""
        slot = (("address", address), *([("token", token)] if token else []))
        limits = {"address": settings.STREAMS_PER_ADDRESS, "token": settings.STREAMS_PER_TOKEN}
        with self._lock:
            for key in slot:
                if self._counts[key] >= limits[key[0]]:
                    raise TooManyStreams(counter=key[0], limit=limits[key[0]])
            self._counts.update(slot)
        return slot

    def release(self, slot: Slot) -> None:
        with self._lock:
            self._counts.subtract(slot)
            for key in slot:
                if not self._counts[key]:
                    del self._counts[key]
