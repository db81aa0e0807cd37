"""Whether the service is well: checks (`checks`), and since when something is wrong (`watching`)."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from django.conf import settings
from django.db import transaction

from desk.models import TROUBLE_MAX, RollUp, Trouble
from kernel.changes.log import append
from kernel.database.sql import database_now
from kernel.probes.readiness import readiness
from mails.models import Collector
from messaging.inbox.events import ServiceEvent, about_trouble

# Free space below which the disk of the data folder is short.
FREE_BYTES, FREE_PERCENT = 2 * 1024**3, 5
GIGABYTE = 1024**3
# A run may take some minutes; with cron the interval is not known.
GRACE = timedelta(minutes=10)
CRON = timedelta(hours=25)


@dataclass(frozen=True, slots=True)
class Check:
    """`name` identifies it over time, `label` and `state` are for people. `trouble` is empty if nothing is wrong.

    `is_checked`: whether there is something that can be well.
    """

    name: str
    label: str
    state: str
    trouble: str = ""
    at: datetime | None = None
    is_checked: bool = True

    @property
    def kind(self) -> str:
        return "bad" if self.trouble else "good" if self.is_checked else "unknown"


def checks() -> list[Check]:
    return [*_of_readiness(), _housekeeping(), _mails(), *_disk()]


def _of_readiness() -> Iterator[Check]:
    state = readiness().state()
    missing = {*state.missing, *state.degraded}
    yield _check("database", "PostgreSQL", "PostgreSQL does not serve", missing)
    if settings.REDIS_URL:
        yield _check("redis", "Redis", "Redis does not answer", missing)
    else:
        yield Check("redis", "Redis", "not used", is_checked=False)
    if settings.STREAMS:
        yield _check("streams", "Stream process", "The stream process does not answer", missing)
    else:
        yield Check("streams", "Stream process", "not used", is_checked=False)
    if settings.WORKER:
        yield _check("worker", "Worker", "No host runs a worker", missing)
    yield _check("migrations", "Migrations", "Migrations of this release are missing", missing, good="applied")


def _check(name: str, label: str, trouble: str, missing: set[str], *, good: str = "answers") -> Check:
    """The check is for this host: another one may reach what this one does not."""
    if name not in missing:
        return Check(_here(name), label, good)
    return Check(_here(name), label, "away" if good == "answers" else "missing", f"{trouble} on {host()}")


def _housekeeping() -> Check:
    """The check is for all hosts together."""
    row = RollUp.objects.first()
    if row is None or row.finished_at is None:
        return Check("housekeeping", "Housekeeping", "has not run yet", is_checked=False)
    at, minutes = row.finished_at, row.interval_minutes
    allowed = timedelta(minutes=2 * minutes) + GRACE if minutes else CRON
    if database_now() - at <= allowed:
        return Check("housekeeping", "Housekeeping", "last run", at=at)
    return Check("housekeeping", "Housekeeping", "late, last run", "Housekeeping does not run", at=at)


def _mails() -> Check:
    """The check is for all hosts together: it shows what the server said to the last mail."""
    if not settings.MAIL_IS_SENT:
        return Check("mails", "Mail server", "not used")
    failure = Collector.objects.values_list("server_failure", flat=True).first()
    if not failure:
        return Check("mails", "Mail server", "no failure")
    return Check("mails", "Mail server", "takes no mails", f"The mail server takes no mails. {failure}"[:TROUBLE_MAX])


def _disk() -> Iterator[Check]:
    try:
        usage = shutil.disk_usage(settings.DATA_DIR)
    except FileNotFoundError:
        # Of a process that stores nothing, on a host of its own.
        return
    state = f"{usage.free / GIGABYTE:.1f} GB free"
    is_short = usage.free < FREE_BYTES or usage.free * 100 < usage.total * FREE_PERCENT
    yield Check(_here("disk"), "Disk", state, f"The disk of {host()} is almost full" if is_short else "")


def _here(name: str) -> str:
    return f"{name} {host()}"


@cache
def host() -> str:
    return platform.node()[:40]


# A trouble that ends sooner, such as that of a restart, is not told.
PATIENCE = timedelta(minutes=2)


def watch() -> None:
    """Check, and store what has changed."""
    record(checks(), now=database_now())


def record(found: Sequence[Check], *, now: datetime) -> None:
    """Store the troubles among `found` and end those that are over; checks that are not in `found` stay as they are."""
    for check in found:
        if check.trouble:
            _store(check, now=now)
        else:
            _end(check)


@transaction.atomic
def _store(check: Check, *, now: datetime) -> None:
    # What stopped to run is wrong since it ran last.
    since = check.at or now
    new = Trouble(name=check.name, text=check.trouble, since=since, seen_at=now)
    Trouble.objects.bulk_create([new], ignore_conflicts=True)
    trouble = Trouble.objects.select_for_update().filter(name=check.name).first()
    if trouble is None:
        return
    trouble.seen_at = now
    if trouble.told_at is None and now - trouble.since >= PATIENCE:
        trouble.told_at = now
        append([about_trouble(ServiceEvent.TROUBLE_BEGAN, text=trouble.text, since=trouble.since)])
    trouble.save(update_fields=["seen_at", "told_at"])


@transaction.atomic
def _end(check: Check) -> None:
    trouble = Trouble.objects.select_for_update().filter(name=check.name).first()
    if trouble is None:
        return
    if trouble.told_at is not None:
        append([about_trouble(ServiceEvent.TROUBLE_ENDED, text=trouble.text, since=trouble.since)])
    trouble.delete()


def troubles() -> dict[str, Trouble]:
    """By the names of their checks."""
    return {trouble.name: trouble for trouble in Trouble.objects.all()}
