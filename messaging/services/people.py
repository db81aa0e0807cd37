"""Suspends people. Callers check that `by` is a super admin."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q

from kernel.admin.audit import log_decision, transition
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.writes.retries import retried
from messaging.exceptions import LastSuperAdmin, OwnAccount, PersonNotFound
from messaging.models import Account, AccountKind
from messaging.models.account import OF_SERVICE
from messaging.services.webhooks import resume_webhooks


@retried
@transaction.atomic
def suspend_person(*, person: Account, by: Account, reason: str = "") -> Account:
    """End the person's sessions and stop the agents they operate at once. Idempotent.

    Raises PersonNotFound (404) for an agent and an account of the service, OwnAccount or LastSuperAdmin (409).
    """
    locked, super_admins = _locked(person)
    if locked == by:
        raise OwnAccount
    if super_admins == {locked}:
        raise LastSuperAdmin
    if locked.is_active:
        locked.is_active = False
        locked.end_sessions()
        _save(locked, by=by, done=transition("Suspended", "active", "suspended"), reason=reason)
    return locked


@retried
@transaction.atomic
def unsuspend_person(*, person: Account, by: Account, reason: str = "") -> Account:
    """Let the person sign in again, and reactivate their agents that are not frozen, and webhooks. Idempotent."""
    locked, _super_admins = _locked(person)
    if not locked.is_active:
        locked.is_active = True
        _save(locked, by=by, done=transition("Unsuspended", "suspended", "active"), reason=reason)
        resume_webhooks(owner=locked)
    return locked


def _locked(person: Account) -> tuple[Account, set[Account]]:
    """(the person, the super admins who can act), locked: if two super admins suspend each other, the second fails."""
    either = Q(pk=person.pk) | Q(is_superuser=True, is_active=True)
    people = Account.objects.select_for_update(no_key=True).filter(either, ~OF_SERVICE, kind=AccountKind.HUMAN)
    locked = {row.pk: row for row in people.order_by("pk")}
    if person.pk not in locked:
        raise PersonNotFound
    return locked[person.pk], {row for row in locked.values() if row.is_superuser and row.can_act}


def _save(person: Account, *, by: Account, done: str, reason: str) -> None:
    person.save(update_fields=["is_active", "sessions_valid_from"])
    log_decision(by=by, about=person, verb=done, reason=reason)
    # What is public about the agents that the person operates says whether they are suspended.
    invalidate(EVERYTHING)
