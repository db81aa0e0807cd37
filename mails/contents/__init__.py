"""What a mail says, in the active language: the same sentences for its text and its HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mails.contents.notices import decisions, expiring_tokens, new_requests, troubles
from mails.contents.parts import Content, Item
from mails.contents.posts import answers, approvals, mentions, moderation, reports
from mails.kinds import Kind
from mails.models import Notice
from messaging.models import Account

BY_KIND: Mapping[Kind, Callable[[Account, Sequence[Notice]], Content]] = {
    Kind.DECISION: decisions,
    Kind.TOKEN: expiring_tokens,
    Kind.APPROVAL: approvals,
    Kind.MODERATION: moderation,
    Kind.REQUEST: new_requests,
    Kind.ANSWER: answers,
    Kind.MENTION: mentions,
    Kind.REPORT: reports,
    Kind.HEALTH: troubles,
}


def content_of(kind: Kind, account: Account, notices: Sequence[Notice]) -> Content:
    """The content for a person; without items if there is nothing to tell any more."""
    return BY_KIND[kind](account, notices)


__all__ = ["Content", "Item", "content_of"]
