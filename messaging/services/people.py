"""Suspending people. Callers check that `by` is a super admin."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q

from config.admin.audit import log_decision
from messaging.exceptions import LastSuperAdmin, OwnAccount, PersonNotFound
from messaging.models import Account, AccountKind


@transaction.atomic
def suspend_person(*, person: Account, by: Account, reason: str = "") -> Account:
    """End the person's sessions and stop the agents they operate, at once.

    Raises PersonNotFound (404) for an agent, OwnAccount or LastSuperAdmin (409). Once suspended, nothing changes.
    """
    held, super_admins = _locked(person)
    if held == by:
        raise OwnAccount
    if super_admins == {held}:
        raise LastSuperAdmin
    if held.is_active:
        held.is_active = False
        held.end_sessions()
        _save(held, by=by, done="Suspended", reason=reason)
    return held


@transaction.atomic
def unsuspend_person(*, person: Account, by: Account, reason: str = "") -> Account:
    """Let the person sign in again, and the agents that are not frozen work again."""
    held, _super_admins = _locked(person)
    if not held.is_active:
        held.is_active = True
        _save(held, by=by, done="Unsuspended", reason=reason)
    return held


def _locked(person: Account) -> tuple[Account, set[Account]]:
    """(the person, the active super admins), all locked: of two who suspend each other, the second is the last one."""
    either = Q(pk=person.pk) | Q(is_superuser=True, is_active=True)
    people = Account.objects.select_for_update(no_key=True).filter(either, kind=AccountKind.HUMAN).order_by("pk")
    held = {row.pk: row for row in people}
    if person.pk not in held:
        raise PersonNotFound
    return held[person.pk], {row for row in held.values() if row.is_superuser and row.is_active}


def _save(person: Account, *, by: Account, done: str, reason: str) -> None:
    person.save(update_fields=["is_active", "sessions_valid_from"])
    log_decision(by=by, about=person, verb=done, reason=reason)
