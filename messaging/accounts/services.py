"""Accounts: handles, creation, passwords, checking credentials, and the suspension of people.

Callers of `suspend` and its opposite check that `by` is a super admin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Case, Q, When
from django.utils import timezone

from kernel.admin.audit import log_decision, transition
from kernel.api import throttling
from kernel.api.exception_handler import invalid_input
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.writes.transaction import retried
from messaging.accounts import second_factor, sign_in_limits
from messaging.accounts.confusables import Likeness, near, skeleton
from messaging.accounts.exceptions import InvalidCredentials, LastSuperAdmin, OwnAccount, PersonNotFound
from messaging.accounts.visitors import Visitor
from messaging.models import Account, AccountKind, HandleClaim
from messaging.models.account import OF_SERVICE
from messaging.posts.message_fields import account_from_row
from messaging.webhooks.services import resume_webhooks

CONFUSABLES_MAX = 20
# No person can have this handle: it contains a hyphen.
COMMAND_LINE = "command-line"


def claim_handle(*, handle: str, field: str = "handle") -> None:
    """Claim a handle for an agent request that is or becomes pending; raises HandleTaken (409) of this field."""
    HandleClaim.claim(handle, field=field)


def release_handle(*, handle: str) -> None:
    """Release the handle of a rejected or cancelled agent request."""
    HandleClaim.objects.filter(handle=handle).delete()


def handles_like(*, handle: str) -> list[tuple[str, Likeness]]:
    """Other claimed handles that are confusable with this one, at most CONFUSABLES_MAX, same skeletons first."""
    shape = skeleton(handle)
    likenesses = near(shape)
    same_first = Case(When(skeleton=shape, then=0), default=1)
    claims = HandleClaim.objects.filter(skeleton__in=likenesses).exclude(handle=handle).order_by(same_first, "handle")
    return [(claim.handle, likenesses[claim.skeleton]) for claim in claims[:CONFUSABLES_MAX]]


def command_line() -> Account:
    """The account of commands and of the scheduler, which has no password."""
    account, _created = Account.objects.get_or_create(
        handle=COMMAND_LINE,
        defaults={"name": "Command line", "is_active": False, "password": make_password(None)},
    )
    return account


@retried
def register_person(*, handle: str, name: str, password: str) -> Account:
    """Create a person; raises InvalidInput (400) for a short or common password, HandleTaken (409).

    Call it outside of a transaction, as all that hashes a password for a request: a hash takes a third of a second.
    """
    _check_password(password, Account(handle=handle, name=name))
    return create_person(handle=handle, name=name, password=password)


def create_person(
    *, handle: str, name: str, password: str | None, is_staff: bool = False, is_superuser: bool = False
) -> Account:
    """Create a person, who cannot sign in if `password` is None. Raises InvalidInput (400), HandleTaken (409)."""
    return Account.objects.create_person(
        handle=handle, name=name, password=password, is_staff=is_staff, is_superuser=is_superuser
    )


@retried
def ensure_person(
    *, handle: str, name: str | None, password: str | None, is_staff: bool, is_superuser: bool
) -> Account:
    """Create or update the person with this handle. Rights are only added; None leaves name and password unchanged.

    Call it outside of a transaction, as `register_person`.
    """
    known = Account.objects.filter(handle=handle, kind=AccountKind.HUMAN).first()
    if known is None:
        return create_person(
            handle=handle,
            name=handle if name is None else name,
            password=password,
            is_staff=is_staff,
            is_superuser=is_superuser,
        )
    # Setting the same password would end the person's sessions, and `make run` passes it at each start.
    is_new = password is not None and not known.check_password(password)
    encoded = make_password(password) if is_new else None
    return _update_person(account_id=known.pk, name=name, encoded=encoded, is_staff=is_staff, is_superuser=is_superuser)


@retried
@transaction.atomic
def _update_person(
    *, account_id: UUID, name: str | None, encoded: str | None, is_staff: bool, is_superuser: bool
) -> Account:
    person = Account.objects.select_for_update().get(pk=account_id)
    person.name = person.name if name is None else name
    person.is_staff |= is_staff
    person.is_superuser |= is_superuser
    person.validate_fields(but=() if name is not None else ("name",))
    if encoded is not None:
        person.password = encoded
        person.end_sessions()
    person.save()
    # The name is part of every post.
    invalidate(EVERYTHING)
    return person


def choose_password(
    *, account: Account, password: str, is_allowed: Callable[[Account], bool] = lambda _account: True
) -> bool:
    """Set a password that the person chose; this ends every token and session of theirs.

    Raises InvalidInput (400) for a short or common one. `is_allowed` is asked about the locked account, so that a link
    works once; returns False if it refuses. Call it outside of a transaction.
    """
    _check_password(password, account)
    return _store_hash(account_id=account.pk, encoded=make_password(password), is_allowed=is_allowed)


@retried
@transaction.atomic
def _store_hash(*, account_id: UUID, encoded: str, is_allowed: Callable[[Account], bool]) -> bool:
    account = Account.objects.select_for_update(no_key=True).filter(pk=account_id, is_active=True).first()
    if account is None or not is_allowed(account):
        return False
    account.password = encoded
    account.end_sessions()
    account.save(update_fields=["password", "sessions_valid_from"])
    return True


@retried
@transaction.atomic
def change_profile(*, account: Account, name: str, language: str) -> None:
    """Change the name and the language of the pages of a person. Raises InvalidInput (400)."""
    person = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    is_renamed = person.name != name
    person.name, person.language = name, language
    person.validate_fields()
    person.save(update_fields=["name", "language"])
    if is_renamed:
        throttling.hit("rename", str(account.pk))
        # The name is part of every post.
        invalidate(EVERYTHING)


@retried
@transaction.atomic
def create_agent_account(*, handle: str, name: str) -> Account:
    """Create the account of an approved agent; its request has already claimed the handle."""
    return Account.objects.create(handle=handle, name=name, kind=AccountKind.AGENT, password=make_password(None))


def authenticate(*, handle: str, password: str, code: str | None = None, visitor: Visitor) -> Account:
    """The person with this handle and password, and with this code if they have a second factor.

    Raises a 401, RateLimited (429).
    """
    account = check_password(handle=handle, password=password, visitor=visitor)
    second_factor.require_code(account=account, code=code, visitor=visitor)
    Account.objects.filter(pk=account.pk).update(last_login=timezone.now())
    return account


def check_password(*, handle: str, password: str, visitor: Visitor, login: str = "") -> Account:
    """The person with this handle and password, who may need a second factor as well.

    `login` is what was typed in place of the handle. Raises InvalidCredentials (401), RateLimited (429). Unknown
    handles cost one password hash too, so response times do not reveal which handles exist.
    """
    account = Account.objects.filter(handle=handle, kind=AccountKind.HUMAN).first()
    counted = sign_in_limits.count_password(account=account, login=login or handle, visitor=visitor)
    if account is None:
        make_password(password)
        raise InvalidCredentials
    if not account.check_password(password) or not account.is_active:
        raise InvalidCredentials
    sign_in_limits.forget(counted)
    return account


def account_record(account: Account) -> dict[str, Any]:
    """`{id, name, handle, kind}`, the Account of the API."""
    return account_from_row((account.pk, account.name, account.handle, account.kind))


def _check_password(password: str, account: Account) -> None:
    try:
        validate_password(password, account)
    except ValidationError as failure:
        raise invalid_input({"password": failure.messages}) from None


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
