"""Carries out the erasure of a person, in batches, each in a transaction that renews the lease at its end.

After an interruption, another process starts again with the first function; what is erased is not found again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from kernel.cache.versions import EVERYTHING, invalidate
from kernel.jobs.leases import LeaseLost, require_lease
from kernel.personal_data import Subject
from kernel.writes.retries import retried
from messaging.accounts.deleted import DELETED_NAME, HEIR_HANDLES, HEIR_IDS
from messaging.models import Account, PersonErasure, PostsChoice
from messaging.privacy.erasures import require_other_super_admin

logger = logging.getLogger(__name__)


def carry_out(erasure: PersonErasure) -> None:
    """Erase the person of a leased erasure. Raises LeaseLost, LastSuperAdmin (409)."""
    account_ids = _begin(erasure)
    subject = Subject(
        account_ids=account_ids,
        handles=tuple(Account.objects.filter(pk__in=account_ids).values_list("handle", flat=True)),
        heirs=heirs(),
        delete_posts=erasure.posts == PostsChoice.DELETED,
    )
    for path in settings.PERSON_ERASERS:
        total, erase = 0, import_string(path)
        while changed := _batch(erasure, erase, subject):
            total += changed
            logger.info("erasure of %s: %s: %s rows", erasure.pk, path, total)
    _end(erasure, subject)
    logger.info("erasure of %s: done", erasure.pk)


def heirs() -> dict[str, UUID]:
    """The accounts that take over, by kind. They have no password and are inactive."""
    return {
        kind: Account.objects.get_or_create(
            handle=handle,
            defaults={"id": HEIR_IDS[kind], "name": DELETED_NAME, "kind": kind, "is_active": False, "password": "!"},
        )[0].pk
        for kind, handle in HEIR_HANDLES.items()
    }


@retried
@transaction.atomic
def _begin(erasure: PersonErasure) -> tuple[UUID, ...]:
    """From now on it cannot be cancelled, and nobody signs in. Returns the accounts to erase, the person's first."""
    person = Account.objects.get(pk=erasure.account_id)
    if person.is_superuser and erasure.started_at is None:
        require_other_super_admin(person)
    locked = PersonErasure.objects.select_for_update().filter(pk=erasure.pk, lease_id=erasure.lease_id).first()
    if locked is None:
        raise LeaseLost
    locked.started_at = locked.started_at or timezone.now()
    # Also after an interruption: an agent may have been approved since. Those that are deleted stay in the list.
    locked.account_ids = list(dict.fromkeys([person.pk, *locked.account_ids, *_operated(person)]))
    locked.save(update_fields=["started_at", "account_ids"])
    Account.objects.filter(pk__in=locked.account_ids).update(is_active=False)
    return tuple(locked.account_ids)


def _operated(person: Account) -> list[UUID]:
    """Again: an agent may have been approved while the erasure was waiting."""
    return [account_id for path in settings.PERSON_STOPPERS for account_id in import_string(path)(person)]


@retried
@transaction.atomic
def _batch(erasure: PersonErasure, erase: Callable[[Subject], int], subject: Subject) -> int:
    changed = erase(subject)
    # Last: readers of the change log wait for transactions that have written, and an eraser may search with no index.
    require_lease(erasure)
    return changed


@retried
@transaction.atomic
def _end(erasure: PersonErasure, subject: Subject) -> None:
    """Delete the accounts, and with them all rows of relations that are deleted with an account (`CASCADE`).

    A relation that is neither these nor erased before (`PROTECT`) fails, and the erasure is tried again.
    """
    require_lease(erasure)
    Account.objects.filter(pk__in=subject.account_ids).delete()
    invalidate(EVERYTHING)
