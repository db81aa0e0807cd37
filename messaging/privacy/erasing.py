"""Carries out the erasure of a person, in batches, each in a transaction that renews the lease at its end.

After an interruption, another process starts again with the first function; what is erased is not found again.

Erasures of people: asked for and cancelled. `erasing` carries them out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from kernel.admin.audit import log_decision
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import database_now
from kernel.jobs.leases import LeaseLost, require_lease
from kernel.personal_data import Subject
from kernel.writes.transaction import retried
from messaging.accounts.deleted import DELETED_NAME, HEIR_HANDLES, HEIR_IDS
from messaging.accounts.exceptions import LastSuperAdmin, PersonNotFound
from messaging.models import Account, AccountKind, PersonErasure, PostsChoice
from messaging.models.account import OF_SERVICE
from messaging.privacy.exceptions import ErasureNotFound
from messaging.webhooks.services import resume_webhooks

# How long it can be cancelled.
WAIT = timedelta(days=7)


@retried
@transaction.atomic
def request_erasure(*, person: Account, posts: PostsChoice, by: Account, wait: timedelta = WAIT) -> PersonErasure:
    """End the sessions of a person and stop their agents at once, and erase them when `wait` is over.

    A repeated request only changes the choice and the time. Raises PersonNotFound (404) for an agent and an account
    of the service, LastSuperAdmin (409).
    """
    locked = _locked(person)
    due_at = database_now() + wait
    erasure = PersonErasure.objects.select_for_update().filter(account=locked).first()
    if erasure is None:
        erasure = PersonErasure.objects.create(
            account=locked, posts=posts, due_at=due_at, stopped_ids=_stop_agents(locked)
        )
        locked.end_sessions()
        log_decision(by=by, about=locked, verb="Erasure requested")
    elif erasure.started_at is None:
        erasure.posts, erasure.due_at = posts, min(due_at, erasure.due_at)
        erasure.save(update_fields=["posts", "due_at"])
    locked.erasure_due_at = erasure.due_at
    locked.save(update_fields=["sessions_valid_from", "erasure_due_at"])
    return erasure


@retried
@transaction.atomic
def cancel_erasure(*, person: Account, by: Account) -> None:
    """Cancel an erasure that has not begun, and activate the agents that it stopped. Raises ErasureNotFound (404)."""
    waiting = PersonErasure.objects.select_for_update().filter(account=person, started_at=None)
    erasure = waiting.first()
    if erasure is None:
        raise ErasureNotFound
    Account.objects.filter(pk__in=erasure.stopped_ids).update(is_active=True)
    erasure.delete()
    Account.objects.filter(pk=person.pk).update(erasure_due_at=None)
    resume_webhooks(owner=person)
    log_decision(by=by, about=person, verb="Erasure cancelled")
    invalidate(EVERYTHING)


def erasure_of(account_id: UUID) -> PersonErasure | None:
    return PersonErasure.objects.filter(account_id=account_id).first()


def require_other_super_admin(person: Account) -> None:
    """Lock the super admins. Raises LastSuperAdmin (409) if no other one is active and stays."""
    admins = Account.objects.select_for_update(no_key=True).filter(is_superuser=True, is_active=True).order_by("pk")
    ids = {admin.pk for admin in admins}
    staying = ids - set(PersonErasure.objects.filter(account__in=ids).values_list("account_id", flat=True))
    if person.pk in ids and not staying - {person.pk}:
        raise LastSuperAdmin


def _locked(person: Account) -> Account:
    """The super admins are locked first, in the order of `messaging.accounts.services`."""
    if person.is_superuser:
        require_other_super_admin(person)
    people = Account.objects.select_for_update(no_key=True).filter(~OF_SERVICE, kind=AccountKind.HUMAN)
    locked = people.filter(pk=person.pk).first()
    if locked is None:
        raise PersonNotFound
    return locked


def _stop_agents(person: Account) -> list[UUID]:
    """The accounts of agents that were active. Inactive, none of their tokens is valid."""
    operated = [account_id for path in settings.PERSON_STOPPERS for account_id in import_string(path)(person)]
    agents = Account.objects.filter(pk__in=operated, kind=AccountKind.AGENT, is_active=True)
    stopped = list(agents.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    Account.objects.filter(pk__in=stopped).update(is_active=False)
    # What is public about the agents says whether they are suspended.
    invalidate(EVERYTHING)
    return stopped


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
