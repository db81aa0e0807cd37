"""The log of sign-ins: who, when, from which network, by which factors, and whether it was refused."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db import Error, transaction
from django.db.models.functions import Now

from kernel.writes.deletion import delete_in_batches
from messaging.models import Account, AccountKind, Door, Factor, SignIn

STORED_DAYS = 90
# So long a second factor may follow the first one.
FOLLOWS_WITHIN = timedelta(minutes=10)
logger = logging.getLogger(__name__)


def log_sign_in(
    *,
    account: Account | None,
    network: str,
    door: Door,
    first: Factor,
    second: Factor | str = "",
    refused: bool = False,
) -> None:
    """Add an attempt to the log. That it cannot be stored prevents no sign-in."""
    _store(SignIn(account=account, network=network, door=door, first=first, second=second, refused=refused))


def log_first_factor(*, account: Account | None, network: str, door: Door, first: Factor) -> None:
    """Add an attempt whose first factor was right, until the second one follows: if it never does, it may be stolen."""
    row = SignIn(account=account, network=network, door=door, first=first, second=Factor.CODE)
    row.refused = row.unfinished = True
    _store(row)


def _store(row: SignIn) -> None:
    try:
        with transaction.atomic():
            if row.second and not row.unfinished:
                _forget_first_factor(row)
            row.save()
    except Error:
        logger.warning("A sign-in was not added to the log", exc_info=True)


def _forget_first_factor(row: SignIn) -> None:
    """The entry of the first factor that this second one follows. The API has no session that would connect the two."""
    of_first = SignIn.objects.filter(account=row.account, network=row.network, door=row.door, unfinished=True)
    latest = of_first.filter(at__gte=Now() - FOLLOWS_WITHIN).order_by("-pk").values("pk")[:1]
    SignIn.objects.filter(pk__in=latest).delete()


def person_named(handle: str) -> Account | None:
    """Whom a refused attempt named."""
    return Account.objects.filter(handle=handle, kind=AccountKind.HUMAN).first()


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the sign-ins of more than STORED_DAYS ago, for the command `prune`."""
    old = SignIn.objects.filter(at__lt=now - timedelta(days=STORED_DAYS))
    return {"sign-ins": old.count() if dry_run else delete_in_batches(old)}
