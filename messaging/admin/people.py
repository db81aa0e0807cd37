"""What a super admin can decide about people, and about the posts of a person or an agent."""

from __future__ import annotations

from messaging.desk import Decision
from messaging.models import Account, AccountKind
from messaging.services.hiding import hide_posts_of, posts_hidden_together, posts_to_hide, restore_posts_of
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
HIDE_POSTS = Decision(
    name="hide-posts",
    label="Hide all posts of this author",
    asks="Every post is out of all public lists, those that wait for approval too. It can be undone as a whole.",
    done="all posts hidden",
    run=lambda row, **given: hide_posts_of(author=row, **given),
    fits=lambda row: posts_to_hide(row).exists(),
    needs_reason=True,
    bulk=False,
)
RESTORE_POSTS = Decision(
    name="restore-posts",
    label="Restore all posts of this author",
    asks="The posts that were hidden together are as they were before. Those that were hidden one by one stay hidden.",
    done="posts restored",
    run=lambda row, **given: restore_posts_of(author=row, **given),
    fits=lambda row: posts_hidden_together(row).exists(),
    bulk=False,
)
