"""Cache tags and their versions, so that no cached response is older than an acknowledged write.

A *cache tag* is a name such as `page:p1_…`, and its version is a number that is used only once. A reader notes the
versions of its tags **before** its query (`snapshot`). A writer gives its tags new versions after its commit and before
its response (`invalidate`). A cached response is valid while the versions of its snapshot are the current ones:

    reader:  note versions ── query ── cache the response with them ………… versions unchanged? ── serve
    writer:           commit ── new versions ── respond

A response that is valid after the writer has responded has the new versions in its snapshot. They are set after the
commit, and the snapshot precedes the query, so the query saw the write. A query that runs between the commit and the
new versions sees the write too, but its response is discarded: that costs one query, and is never wrong.

The processes of one host share the versions in a small mapped file; with `REDIS_URL` all hosts share them in Redis. A
crash between commit and new versions, or a Redis that does not answer, loses an invalidation. That is why no response
is served that is older than `settings.RESPONSE_CACHE_SECONDS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Protocol

from django.conf import settings
from django.db import transaction

from kernel.cache.shared_memory import position_of
from kernel.database.standbys import current_position, standbys

# The tag of every response, for rare changes that may affect any of them: a post is hidden, an account is renamed.
EVERYTHING = "everything"


class VersionStore(Protocol):
    """Stores the versions of all cache tags."""

    def read(self, tags: tuple[str, ...]) -> tuple[int, ...] | None:
        """Return the current versions, or None if they cannot be read."""

    def is_available(self) -> bool:
        """Return whether versions can be read, as far as is known without a query."""

    def bump(self, tags: tuple[str, ...]) -> None:
        """Give each tag a version that was never used.

        Never raises: a lost invalidation is bounded by RESPONSE_CACHE_SECONDS.
        """


@dataclass(frozen=True, slots=True)
class TagSnapshot:
    """Cache tags and their versions before a response was built."""

    tags: tuple[str, ...]
    versions: tuple[int, ...]

    @property
    def position(self) -> int:
        """The position in the log of PostgreSQL that a read has to see; 0 if one of the tags has an unknown one."""
        positions = [position_of(version) for version in self.versions]
        return max(positions) if all(positions) else 0

    def is_valid(self) -> bool:
        return store().read(self.tags) == self.versions


def snapshot(*tags: str) -> TagSnapshot | None:
    """Note the versions of `tags`; call it before the query. Without versions (None) nothing may be cached."""
    tags = (EVERYTHING, *tags)
    versions = store().read(tags)
    return None if versions is None else TagSnapshot(tags, versions)


def invalidate(*tags: str) -> None:
    """Invalidate all responses that depend on one of `tags`, once the current transaction is committed."""
    transaction.on_commit(lambda: store().bump(tags))


@cache
def store() -> VersionStore:
    """Return the one store of this process."""
    # Imported here because only one of them is needed.
    if settings.REDIS_URL:
        from kernel.cache.redis_store import RedisVersionStore

        return RedisVersionStore(settings.REDIS_URL, position=current_position if standbys() else None)
    from kernel.cache.shared_memory import SharedMemoryVersionStore

    return SharedMemoryVersionStore(settings.DATA_DIR / "versions")
