"""Writes the archive of an export: a zip file with a JSON file for each section, and a page that describes them."""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.module_loading import import_string

from kernel.jobs.leases import require_lease
from kernel.personal_data import Section
from messaging.models import Account, Archive, ExportStatus

PART_BYTES = 256 * 1024
# Records between two reports of progress.
STRIDE = 200
ATTEMPTS_MAX = 3
# 100 is written with the end.
ALMOST = 99
OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z
logger = logging.getLogger(__name__)


def write_export(export: Archive, more: Iterable[Section] = ()) -> None:
    """Make a leased export or record, from the beginning. Raises LeaseLost."""
    if export.attempts >= ATTEMPTS_MAX:
        _finish(export, status=ExportStatus.FAILED)
        return
    with transaction.atomic():
        require_lease(export)
        _update(export, status=ExportStatus.RUNNING, percent=0, attempts=export.attempts + 1)
        export.parts.all().delete()
    parts = Parts(export)
    write_archive(parts, account_id=export.account_id, progress=partial(_progress, export), more=more)
    parts.close()
    _finish(export, status=ExportStatus.READY, percent=100, size=parts.size)


def write_archive(
    file: Any,
    *,
    account_id: UUID,
    progress: Callable[[int], None] = lambda percent: None,
    more: Iterable[Section] = (),
) -> None:
    """Write the archive to a file that need not be seekable. One record at a time is in memory.

    `more`: sections that are not in an export for the person.
    """
    sections = [*sections_of(account_id), *more]
    total, done, now = sum(section.count for section in sections) or 1, 0, timezone.now()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for section in sections:
            with archive.open(_entry(f"{section.name}.json"), "w", force_zip64=True) as out:
                for written in _write_records(out, section.records):
                    progress(min(ALMOST, (done + written) * 100 // total))
            done += section.count
        context = {"sections": sections, "account": Account.objects.get(pk=account_id), "now": now}
        page = render_to_string("personal_data/index.html", context | {"base_url": settings.BASE_URL})
        archive.writestr(_entry("index.html"), page)


class Parts:
    """A file that is stored as parts of an export."""

    def __init__(self, export: Archive) -> None:
        self.size = 0
        self._export, self._number, self._buffer = export, 0, bytearray()

    def write(self, data: bytes) -> int:
        self._buffer += data
        while len(self._buffer) >= PART_BYTES:
            self._store(bytes(self._buffer[:PART_BYTES]))
            del self._buffer[:PART_BYTES]
        return len(data)

    def flush(self) -> None:
        """Called by zipfile."""

    def close(self) -> None:
        if self._buffer:
            self._store(bytes(self._buffer))
            self._buffer.clear()

    @transaction.atomic
    def _store(self, data: bytes) -> None:
        # Locks the row of the export, so that a process which has lost its lease adds nothing.
        require_lease(self._export)
        self._export.parts.create(number=self._number, data=data)
        self._number += 1
        self.size += len(data)


def sections_of(account_id: UUID) -> Iterator[Section]:
    for path in settings.PERSON_EXPORTERS:
        yield from import_string(path)(account_id)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(f"export/{name}", timezone.now().timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _write_records(out: Any, records: Iterable[Any]) -> Iterator[int]:
    """Write a JSON array. Yields the number of written records every STRIDE records."""
    written = 0
    out.write(b"[")
    for written, record in enumerate(records, start=1):
        out.write((b",\n" if written > 1 else b"\n") + orjson.dumps(record, default=str, option=OPTIONS))
        if written % STRIDE == 0:
            yield written
    out.write(b"\n]\n")
    yield written


def _progress(export: Archive, percent: int) -> None:
    require_lease(export)
    if percent != export.percent:
        _update(export, percent=percent)


@transaction.atomic
def _finish(export: Archive, **changes: Any) -> None:
    require_lease(export)
    _update(export, **changes, finished_at=timezone.now(), lease_id=None, leased_until=None)
    logger.info("%s %s: %s", export._meta.verbose_name, export.pk, changes["status"])


def _update(export: Archive, **changes: Any) -> None:
    type(export)._default_manager.filter(pk=export.pk).update(**changes)
    for name, value in changes.items():
        setattr(export, name, value)
