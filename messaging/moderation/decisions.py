"""Logs the decisions of moderators: in the history of the admin, and for the moderators of the community."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Model

from kernel.admin.audit import log_decision
from messaging.models import Account, Act, Community, Decision, Message
from messaging.models.message import MessageQuerySet


def log_about_post(post: Message, act: Act, *, by: Account, verb: str, reason: str = "") -> None:
    """`verb` is what the history of the admin says."""
    _log(act, by=by, community_id=post.community_id, about=post, verb=verb, reason=reason, message=post)


def log_about_community(
    community: Community,
    act: Act,
    *,
    by: Account,
    verb: str,
    reason: str = "",
    account: Account | None = None,
    message: Message | None = None,
    columns: Sequence[str] = (),
    page_id: str | None = None,
) -> None:
    """`account`, `message`, `page_id`: what it is about; `columns`: those of the community that were changed."""
    details = {"account": account, "message": message, "page_id": page_id, "columns": list(columns)}
    _log(act, by=by, community_id=community.pk, about=community, verb=verb, reason=reason, **details)


def note_for_moderators(
    community: Community,
    act: Act,
    *,
    by: Any,
    reason: str = "",
    account: Account | None = None,
    columns: Sequence[str] = (),
) -> None:
    """Only for the moderators: the caller logs it in the history of the admin. `by` None: a command."""
    details = {"account": account, "columns": list(columns)}
    Decision.objects.create(community=community, act=act, by=by, reason=reason, **details)


def note_for_communities(posts: MessageQuerySet, act: Act, *, by: Account, account: Account, reason: str = "") -> None:
    """For the moderators of each community of `posts`: a super admin has decided on all posts by `account`."""
    of_posts = posts.exclude(community=None).order_by().values_list("community_id", flat=True).distinct()
    made = {"act": act, "by_id": by.pk, "account": account, "reason": reason}
    if decisions := [Decision(community_id=community_id, **made) for community_id in of_posts]:
        Decision.objects.bulk_create(decisions)


def _log(
    act: Act, *, by: Account, community_id: UUID | None, about: Model, verb: str, reason: str, **details: Any
) -> None:
    log_decision(by=by, about=about, verb=verb, reason=reason)
    if community_id is not None:
        Decision.objects.create(act=act, by_id=by.pk, community_id=community_id, reason=reason, **details)
