"""The events of inboxes about posts, and those for moderators and super admins; whom a post mentions.

The own doing of an account makes no event for it, and nobody reads an heir's. Events for the mails of moderators and
super admins are rows of the change log that no reader gets.

Moderators are told in their inboxes that a post waits for them: reported, or for approval. A moderator gets at most
one event of a kind and community in TOLD_MINUTES, with the number of posts that wait then. Of two writes at once, the
second one waits for the first one's lock and sees its time. Nobody is told of their own report or post, and super
admins are told where they moderate by name.

A mention is `@handle` in the text of a post outside of code, links and addresses, in either case. A handle is of ASCII
characters, so a letter of any other script is no part of it: most of them write no space there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from kernel.changes import wakeups
from kernel.changes.log import NewChange
from kernel.database.sql import execute, fetch_all
from messaging.accounts.deleted import HEIR_IDS
from messaging.changes.types import InboxType
from messaging.markdown.reading import text_nodes
from messaging.models import Message
from messaging.models.account import HANDLE_MAX, HANDLE_MIN
from messaging.posts.shown import is_no_draft

MENTIONS_MAX = 10
# Different handles of a text that are looked up; those of no account do not count as mentions.
LOOKUPS_MAX = 50
# static/embed/panel/markdown.js has the same rule. Keyboards of Chinese and Japanese type the wide sign.
SIGNS = "@\uff20"
MENTION = re.compile(rf"(?<!\w)[{SIGNS}](\w{{{HANDLE_MIN},{HANDLE_MAX}}})(?!\w)", re.ASCII)
FIND = "SELECT handle, id FROM messaging_account WHERE handle = ANY(%s::varchar[])"


def mentioned_accounts(text: str) -> list[UUID]:
    """The first MENTIONS_MAX accounts that a text mentions, in its order. One query, and none without a handle."""
    handles = mentioned_handles(text)
    if not handles:
        return []
    accounts: dict[str, UUID] = dict(fetch_all(FIND, [handles]))
    return [accounts[handle] for handle in handles if handle in accounts][:MENTIONS_MAX]


def newly_mentioned_accounts(text: str, earlier: Iterable[str]) -> list[UUID]:
    """The accounts that a text mentions and no earlier version of it does: with those, at most MENTIONS_MAX."""
    known = {handle for version in earlier for handle in mentioned_handles(version)}
    handles = [handle for handle in mentioned_handles(text) if handle not in known]
    if not handles:
        return []
    accounts: dict[str, UUID] = dict(fetch_all(FIND, [[*known, *handles]]))
    room = MENTIONS_MAX - len(known & accounts.keys())
    return [accounts[handle] for handle in handles if handle in accounts][: max(room, 0)]


def mentioned_handles(text: str) -> list[str]:
    """The first LOOKUPS_MAX different handles."""
    found: dict[str, None] = {}
    for handle in mentions(text):
        found.setdefault(handle)
        if len(found) == LOOKUPS_MAX:
            break
    return list(found)


def mentions(text: str) -> Iterator[str]:
    """Every handle, in the order of the text, which is parsed only if it has a sign."""
    if any(sign in text for sign in SIGNS):
        for part in text_nodes(text):
            yield from (match[1].lower() for match in MENTION.finditer(part))


# (type, account, the post of the account that it is about)
Event = tuple[InboxType, UUID, UUID | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPost:
    """A post that becomes public or is edited, and the authors of its parent and of the post that it quotes."""

    id: UUID
    page_id: str
    community_id: UUID | None
    author_id: UUID
    content: str
    parent_id: UUID | None
    parent_author_id: UUID | None
    quote_id: UUID | None
    quote_author_id: UUID | None


def answer_events(post: NewPost) -> list[NewChange]:
    """`reply`, `quote` and `mention`: a mentioned account that is answered or quoted already gets no `mention`."""
    return _events(post, [*_answered(post), *_mentions(post, mentioned_accounts(post.content))])


def edit_events(post: NewPost, earlier: Iterable[str]) -> list[NewChange]:
    """`mention` for the accounts that the text mentions and no earlier one does."""
    return _events(post, _mentions(post, newly_mentioned_accounts(post.content, earlier)))


def _mentions(post: NewPost, accounts: Iterable[UUID]) -> list[Event]:
    answered = {account_id for _type, account_id, _about_id in _answered(post)}
    return [(InboxType.MENTION, account_id, None) for account_id in accounts if account_id not in answered]


def _events(post: NewPost, events: Iterable[Event]) -> list[NewChange]:
    return [
        NewChange(
            type=event,
            page_id=post.page_id,
            message_id=post.id,
            account_id=account_id,
            actor_id=post.author_id,
            about_id=about_id,
        )
        for event, account_id, about_id in events
        if account_id != post.author_id and account_id not in HEIR_IDS.values()
    ]


def _answered(post: NewPost) -> Iterator[Event]:
    """A reply that quotes its parent is a reply."""
    if post.parent_author_id is not None:
        yield InboxType.REPLY, post.parent_author_id, post.parent_id
    if post.quote_author_id is not None and post.quote_id != post.parent_id:
        yield InboxType.QUOTE, post.quote_author_id, post.quote_id


def approval_events(post: NewPost | Message, *, operator_id: UUID | None) -> list[NewChange]:
    """`approval_needed` for the operator, and for the agent, whose webhooks are the operator's."""
    post_id = post.pk if isinstance(post, Message) else post.id
    return [
        NewChange(
            type=InboxType.APPROVAL_NEEDED,
            page_id=post.page_id,
            message_id=post_id,
            account_id=account_id,
            actor_id=post.author_id,
            data={"agentId": post.author_id},
        )
        for account_id in (operator_id, post.author_id)
        if account_id is not None
    ]


def moderated_event(
    message: Message, *, status: str, by: UUID, reason: str, names_actor: bool = False
) -> list[NewChange]:
    """`moderated` for the author; it does not name a moderator, but with `names_actor` the operator of an agent."""
    if message.author_id == by or message.author_id in HEIR_IDS.values():
        return []
    return [
        NewChange(
            type=InboxType.MODERATED,
            page_id=message.page_id,
            message_id=message.pk,
            account_id=message.author_id,
            actor_id=by if names_actor else None,
            data={"status": status, "reason": reason or None},
        )
    ]


# The largest UUID. No account has it (ids are UUIDv7, or the smallest ones for the heirs of erased people), so the rows
# are in nobody's inbox, and with an account they are no public change.
SERVICE = UUID(int=(1 << 128) - 1)


class ServiceEvent(StrEnum):
    AGENT_REQUESTED = "agent_requested"
    POST_PENDING = "post_pending"
    POST_REPORTED = "post_reported"
    TROUBLE_BEGAN = "trouble_began"
    TROUBLE_ENDED = "trouble_ended"


def about_post(event: ServiceEvent, *, page_id: str, community_id: UUID | None, message_id: UUID) -> NewChange:
    """They name neither the author nor who has reported the post."""
    return NewChange(type=event, page_id=page_id, community_id=community_id, message_id=message_id, account_id=SERVICE)


def about_stored_post(event: ServiceEvent, post: Message) -> NewChange:
    return about_post(event, page_id=post.page_id, community_id=post.community_id, message_id=post.pk)


def about_request(request_id: UUID) -> NewChange:
    data: dict[str, Any] = {"requestId": request_id}
    return NewChange(type=ServiceEvent.AGENT_REQUESTED, account_id=SERVICE, data=data)


def about_trouble(event: ServiceEvent, *, text: str, since: datetime) -> NewChange:
    """`text` says what is wrong, `since` when it was first seen."""
    return NewChange(type=event, account_id=SERVICE, data={"text": text, "since": since.isoformat()})


TOLD_MINUTES = 10
COUNT_MAX = 1_000
# How many posts wait, with the one that is not inserted yet.
PENDING = f"""
    SELECT FROM messaging_message m WHERE m.community_id = %(community)s AND m.status = 'pending'
        AND {is_no_draft("m")}
    UNION ALL SELECT WHERE %(is_new)s
"""
REPORTED = f"""
    SELECT DISTINCT m.id FROM messaging_report r JOIN messaging_message m ON m.id = r.message_id
    WHERE r.community_id = %(community)s AND r.closed_at IS NULL AND m.status IN ('published', 'pending')
        AND {is_no_draft("m")}
"""  # noqa: S608  only constants
# The condition is stated where the rows are locked: PostgreSQL checks it again on a row that it had to wait for.
TELL = """
WITH due AS (
    SELECT moderator.id FROM messaging_moderator moderator
    JOIN messaging_account account ON account.id = moderator.account_id
    WHERE moderator.community_id = %(community)s AND moderator.account_id <> %(by)s
        AND account.is_active AND account.erasure_due_at IS NULL
        AND coalesce(moderator.{column}, '-infinity') <= clock_timestamp() - interval '{minutes} minutes'
    ORDER BY moderator.id FOR NO KEY UPDATE OF moderator
), told AS (
    UPDATE messaging_moderator moderator SET {column} = clock_timestamp() FROM due
    WHERE moderator.id = due.id RETURNING moderator.account_id
)
INSERT INTO changes_change (type, page_id, community_id, message_id, account_id, data)
SELECT %(type)s, %(page)s, %(community)s, %(message)s, told.account_id, jsonb_build_object(
    'communityId', %(community)s::uuid, 'count', (SELECT count(*) FROM ({waiting} LIMIT {limit}) waiting)
) FROM told
"""
STATEMENTS = {
    kind: TELL.format(column=column, waiting=waiting, minutes=TOLD_MINUTES, limit=COUNT_MAX)
    for kind, column, waiting in (
        (InboxType.POST_PENDING, "told_of_pending_at", PENDING),
        (InboxType.POST_REPORTED, "told_of_reports_at", REPORTED),
    )
}


def tell_moderators(
    kind: InboxType, *, page_id: str, community_id: UUID | None, message_id: UUID, by: UUID, is_new: bool = False
) -> None:
    """One statement, in the transaction of the write. `by`: who has reported or written the post.

    `is_new`: the post is inserted by a later statement.
    """
    if community_id is None:
        return
    values = {"type": kind, "page": page_id, "community": community_id, "message": message_id, "by": by}
    if kind == InboxType.POST_PENDING:
        values["is_new"] = is_new
    if execute(STATEMENTS[kind], values):
        wakeups.announce()
