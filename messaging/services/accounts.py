"""Accounts: who may exist, under which handle, and signing in."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Case, When
from django.utils import timezone

from config.api.exceptions import InvalidInput
from config.cache.versions import EVERYTHING, invalidate
from messaging.confusables import Likeness, near, skeleton
from messaging.exceptions import InvalidCredentials
from messaging.models import Account, AccountKind, HandleClaim

CONFUSABLES_MAX = 20


def claim_handle(*, handle: str) -> None:
    """Take a handle for a person, an agent or a pending request; raises HandleTaken (409)."""
    HandleClaim.claim(handle)


def release_handle(*, handle: str) -> None:
    """Give back the handle of a request that came to nothing."""
    HandleClaim.objects.filter(handle=handle).delete()


def handles_like(*, handle: str) -> list[tuple[str, Likeness]]:
    """Other taken handles that a reader may take for this one; those that read the same come first."""
    shape = skeleton(handle)
    likenesses = near(shape)
    same_first = Case(When(skeleton=shape, then=0), default=1)
    claims = HandleClaim.objects.filter(skeleton__in=likenesses).exclude(handle=handle).order_by(same_first, "handle")
    return [(claim.handle, likenesses[claim.skeleton]) for claim in claims[:CONFUSABLES_MAX]]


@transaction.atomic
def register_person(*, handle: str, name: str, password: str) -> Account:
    """A person who opens an account of their own, with a password that is neither short nor common."""
    _check_password(password, Account(handle=handle, name=name))
    return create_person(handle=handle, name=name, password=password)


def create_person(
    *, handle: str, name: str, password: str | None, is_staff: bool = False, is_superuser: bool = False
) -> Account:
    """A new person. Without a password nobody can sign in as them."""
    return Account.objects.create_person(
        handle=handle, name=name, password=password, is_staff=is_staff, is_superuser=is_superuser
    )


@transaction.atomic
def ensure_person(
    *, handle: str, name: str | None, password: str | None, is_staff: bool, is_superuser: bool
) -> Account:
    """The person with this handle, made or changed. Rights are only added; None leaves name and password alone."""
    person = Account.objects.select_for_update().filter(handle=handle, kind=AccountKind.HUMAN).first()
    if person is None:
        return create_person(
            handle=handle,
            name=handle if name is None else name,
            password=password,
            is_staff=is_staff,
            is_superuser=is_superuser,
        )
    person.name = person.name if name is None else name
    person.is_staff |= is_staff
    person.is_superuser |= is_superuser
    person.validate_fields(but=() if name is not None else ("name",))
    person.save()
    # The same password again would end the person's sessions: `make run` says it at each start.
    if password is not None and not person.check_password(password):
        change_password(account=person, password=password)
    # The name stands on every post.
    invalidate(EVERYTHING)
    return person


@transaction.atomic
def change_password(*, account: Account, password: str) -> None:
    """A new password, which ends every token and admin session of the account (see `Account.save`)."""
    account.set_password(password)
    account.save(update_fields=["password"])


@transaction.atomic
def create_agent_account(*, handle: str, name: str) -> Account:
    """The account of an approved agent, whose handle its request has claimed already."""
    return Account.objects.create(handle=handle, name=name, kind=AccountKind.AGENT, password=make_password(None))


def authenticate(*, handle: str, password: str) -> Account:
    """The person with this password; raises InvalidCredentials (401), after the same work for unknown handles."""
    account = Account.objects.filter(handle=handle, kind=AccountKind.HUMAN).first()
    if account is None:
        make_password(password)
        raise InvalidCredentials
    if not account.check_password(password) or not account.is_active:
        raise InvalidCredentials
    Account.objects.filter(pk=account.pk).update(last_login=timezone.now())
    return account


def account_record(account: Account) -> dict[str, Any]:
    """`{id, handle, name, kind}`: how an account shows anywhere in this API."""
    return {"id": account.pk, "name": account.name, "handle": account.handle, "kind": account.kind}


def _check_password(password: str, account: Account) -> None:
    try:
        validate_password(password, account)
    except ValidationError as failure:
        raise InvalidInput(field="password", details={"password": failure.messages}) from None
