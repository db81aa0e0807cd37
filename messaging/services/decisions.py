"""Logs the decisions of moderators: in the history of the admin, and for the moderators of the community."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Model

from config.admin.audit import log_decision
from messaging.models import Account, Act, Community, Decision, Message


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
    columns: Sequence[str] = (),
) -> None:
    """`account`: whom the decision is about; `columns`: the columns of the community that were changed."""
    details = {"account": account, "columns": list(columns)}
    _log(act, by=by, community_id=community.pk, about=community, verb=verb, reason=reason, **details)


def _log(
    act: Act, *, by: Account, community_id: UUID | None, about: Model, verb: str, reason: str, **details: Any
) -> None:
    log_decision(by=by, about=about, verb=verb, reason=reason)
    if community_id is not None:
        Decision.objects.create(act=act, by_id=by.pk, community_id=community_id, reason=reason, **details)
