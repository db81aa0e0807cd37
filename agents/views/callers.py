from __future__ import annotations

from config.api.callers import Caller, CallerKind
from config.api.errors import SuperAdminRequired
from messaging.models import Account

PERSON = {CallerKind.PERSON}


def super_admin(caller: Caller) -> Account:
    """The caller's account; raises SuperAdminRequired (403). Asked first: others learn nothing of what exists."""
    if not caller.is_super_admin:
        raise SuperAdminRequired
    account: Account = caller.account
    return account
