"""The log of sign-ins: who, when, from which network, by which factors, and whether it was refused."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db import Error, transaction

from config.writes.pruning import delete_in_batches
from messaging.models import Account, AccountKind, Door, Factor, SignIn

STORED_DAYS = 90
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
    row = SignIn(account=account, network=network, door=door, first=first, second=second, refused=refused)
    try:
        with transaction.atomic():
            row.save()
    except Error:
        logger.warning("A sign-in was not added to the log", exc_info=True)


def person_named(handle: str) -> Account | None:
    """Whom a refused attempt named."""
    return Account.objects.filter(handle=handle, kind=AccountKind.HUMAN).first()


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the sign-ins of more than STORED_DAYS ago, for the command `prune`."""
    old = SignIn.objects.filter(at__lt=now - timedelta(days=STORED_DAYS))
    return {"sign-ins": old.count() if dry_run else delete_in_batches(old)}
