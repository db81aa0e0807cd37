"""Versions of what answers depend on, so that an answer kept in memory is never older than a write that was told.

A *subject* is a name such as `page:p1_…`, and its version a number that is never used twice. Whoever reads notes the
versions of its subjects **before** it asks the database (`watch`). Whoever writes gives its subjects new versions after
the commit and before its answer (`touch`). An answer made from what was read holds while the versions are the same.
Whatever happens in between, the answer is at worst thrown away for nothing:

    reader:  versions ── database ── keep (answer, versions) ………… still the same? ── serve
    writer:                 ── commit ── new versions ── answer

The versions of one host stand in a small file that all its processes map; with `REDIS_URL` they stand in Redis, where
several hosts agree on them. A crash between commit and new versions, or a Redis that does not answer, loses a touch:
so nothing is served that was kept longer than `settings.KEPT_ANSWER_SECONDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from django.conf import settings
from django.db import transaction

# What touches any answer at all, and happens seldom: a moderator hides a post, somebody changes a name.
EVERYTHING = "everything"


class Home(Protocol):
    """Where versions stand."""

    def read(self, subjects: tuple[str, ...]) -> tuple[int, ...] | None:
        """The versions now; None where they cannot be had."""

    def is_away(self) -> bool:
        """Whether versions cannot be had at the moment, so far as is known without asking."""

    def renew(self, subjects: tuple[str, ...]) -> None:
        """Give each subject a version that none ever had. Never fails; a loss is made good by the bound above."""


@dataclass(frozen=True, slots=True)
class Watched:
    """Subjects, and the versions they had when an answer was begun."""

    subjects: tuple[str, ...]
    versions: tuple[int, ...]

    def still_holds(self) -> bool:
        return home().read(self.subjects) == self.versions


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make an answer, without the request that asked for it.

    `make` finds the data of its body, from what is bound in it and what the database holds of `subjects`.
    """

    subjects: tuple[str, ...]
    make: Callable[[], Any]

    def watch(self) -> Watched | None:
        """To be called before `make`."""
        return watch(*self.subjects)


def watch(*subjects: str) -> Watched | None:
    """To be called before the database is asked; None where versions cannot be had, and nothing may be kept."""
    watched = (EVERYTHING, *subjects)
    versions = home().read(watched)
    return None if versions is None else Watched(watched, versions)


def touch(*subjects: str) -> None:
    """Say that answers about these subjects are out of date, once the transaction at work is committed."""
    transaction.on_commit(lambda: home().renew(subjects))


@cache
def home() -> Home:
    """The one home of this process."""
    if settings.REDIS_URL:
        from config.api.freshness.in_redis import RedisHome

        return RedisHome(settings.REDIS_URL)
    from config.api.freshness.shared_memory import SharedMemoryHome

    return SharedMemoryHome(settings.DATA_DIR / "versions")
