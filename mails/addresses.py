"""The addresses that mails may be sent to: verified ones of active people, which the mail server has not refused."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import QuerySet

from mails.models import RefusedAddress
from messaging.models import Account, AccountKind


def verified_addresses(account_ids: Collection[UUID]) -> dict[UUID, str]:
    """The verified address of each account that has one, the primary one if it has several."""
    active = Account.objects.filter(pk__in=account_ids, is_active=True, kind=AccountKind.HUMAN)
    rows = addresses().filter(user__in=active, verified=True).order_by("primary", "-pk")
    return dict(rows.values_list("user_id", "email"))


def usable_address(account_id: UUID) -> str | None:
    """The address to send mails to."""
    return None if refusal_of(account_id) else verified_addresses([account_id]).get(account_id)


def refusal_of(account_id: UUID) -> RefusedAddress | None:
    """What the mail server has refused of the person's address. That of an earlier address does not count."""
    refused = RefusedAddress.objects.filter(account=account_id).first()
    if refused is None:
        return None
    address = verified_addresses([account_id]).get(account_id, "")
    return refused if address.lower() == refused.address.lower() else None


def addresses() -> QuerySet[Any]:
    """Those of django-allauth, whose package has no types."""
    rows: QuerySet[Any] = apps.get_model("account", "EmailAddress")._default_manager.all()
    return rows
