"""What a super admin can decide about people."""

from __future__ import annotations

from messaging.desk import Decision
from messaging.models import Account, AccountKind
from messaging.services.people import suspend_person, unsuspend_person


def _is_active_person(account: Account) -> bool:
    return account.kind == AccountKind.HUMAN and account.is_active


def _is_suspended_person(account: Account) -> bool:
    return account.kind == AccountKind.HUMAN and not account.is_active


SUSPEND = Decision(
    name="suspend",
    label="Suspend",
    asks="All sessions end, and every agent of this person stops, at once. The posts stay. It can be undone.",
    done="suspended",
    run=lambda row, **given: suspend_person(person=row, **given),
    fits=_is_active_person,
    needs_reason=True,
)
UNSUSPEND = Decision(
    name="unsuspend",
    label="Unsuspend",
    asks="The person can sign in again, and the agents that are not frozen work again.",
    done="no longer suspended",
    run=lambda row, **given: unsuspend_person(person=row, **given),
    fits=_is_suspended_person,
)
