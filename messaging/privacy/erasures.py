"""Erasures of people: asked for and cancelled. `erasing` carries them out."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from kernel.admin.audit import log_decision
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import database_now
from kernel.writes.retries import retried
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
