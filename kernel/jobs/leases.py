"""Leases: one process at a time works on a row, whichever host it runs on.

It renews its lease while it works. After a crash the lease expires, and another process takes over.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar, Self, TypeVar
from uuid import UUID, uuid4

from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now

Row = TypeVar("Row", bound=models.Model)
Job = TypeVar("Job", bound="Leased")


class LeaseLost(Exception):
    """Another process has taken the row over, or its work was cancelled."""


class LeasedQuerySet(models.QuerySet[Row]):
    """Of a subclass of `Leased`."""

    def unleased(self) -> Self:
        return self.filter(Q(leased_until=None) | Q(leased_until__lt=Now()))

    def leased(self, lease_id: UUID) -> Self:
        """The row of a lease; none if the lease has passed on."""
        return self.filter(lease_id=lease_id)

    def lease(self, **changes: Any) -> UUID | None:
        """Take the lease of the only row of this query, and change the row; None if the query has no row now."""
        lease_id = uuid4()
        return lease_id if self._until(lease_id=lease_id, **changes) else None

    def renew(self, lease_id: UUID, **changes: Any) -> bool:
        """Renew a lease, and change its row; False if the lease has passed on."""
        return self.leased(lease_id)._until(**changes) == 1

    def release(self, lease_id: UUID) -> None:
        """Let another process take the row at once; does nothing if the lease has passed on."""
        self.leased(lease_id).update(lease_id=None, leased_until=None)

    def _until(self, **changes: Any) -> int:
        lease: timedelta = self.model.LEASE  # type: ignore[attr-defined]  # see the class
        return self.update(**changes, leased_until=Now() + lease)


class Leased(models.Model):
    """A row that one process at a time works on."""

    LEASE: ClassVar = timedelta(seconds=60)

    lease_id = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True


@transaction.atomic
def take(due: LeasedQuerySet[Job]) -> Job | None:
    """Lease one of the rows, or None if there is none that no other process has locked."""
    row = due.select_for_update(skip_locked=True, no_key=True, of=("self",)).first()
    if row is not None:
        row.lease_id = _rows_like(row).lease()
    return row


def renew(row: Leased) -> bool:
    """Renew the lease of a row, at each batch; False if it has passed on."""
    return row.lease_id is not None and _rows_like(row).renew(row.lease_id)


def require_lease(row: Leased) -> None:
    """Renew the lease of a row. Raises LeaseLost."""
    if not renew(row):
        raise LeaseLost


def release(row: Leased) -> None:
    if row.lease_id is not None:
        _rows_like(row).release(row.lease_id)


def _rows_like(row: Job) -> LeasedQuerySet[Job]:
    return LeasedQuerySet(type(row)).filter(pk=row.pk)
