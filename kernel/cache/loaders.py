"""Refreshes a cached response without a Django request, at half the cost of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import close_old_connections

from kernel.cache.rendering import to_json
from kernel.cache.versions import TagSnapshot, snapshot
from kernel.database.standbys import read_on_standby


class LoadedBody(NamedTuple):
    snapshot: TagSnapshot
    body: bytes


@dataclass(frozen=True, slots=True)
class Loader:
    """Loads the data of a response.

    `load` depends only on its bound arguments and on the rows that `tags` name; `render` on the data alone.
    """

    tags: tuple[str, ...]
    load: Callable[[], Any]
    render: Callable[[Any], bytes] = to_json

    def load_after(self, snapshot: TagSnapshot | None) -> Any:
        """Load data that is as new as the versions in the snapshot, on a standby if there are some."""
        return read_on_standby(self.load, 0 if snapshot is None else snapshot.position)

    def snapshot(self) -> TagSnapshot | None:
        """Note the versions of the tags. Call it before `load`."""
        return snapshot(*self.tags)


def refresh(loader: Loader) -> LoadedBody | None:
    """Load a body again. On an error return None: the caller falls back to Django, which reports it."""
    # Django does so at the start of a request.
    close_old_connections()
    try:
        versions = loader.snapshot()
        return None if versions is None else LoadedBody(versions, loader.render(loader.load_after(versions)))
    except Exception:  # noqa: BLE001  in Django the same error is handled
        return None
