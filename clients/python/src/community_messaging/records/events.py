"""The change log and the inbox."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from community_messaging.records.accounts import Account
from community_messaging.records.posts import PlainMessage


class EventData(TypedDict):
    emoji: NotRequired[str]
    status: NotRequired[str]
    reason: NotRequired[str | None]
    requestId: NotRequired[str]
    agentId: NotRequired[str]
    scopes: NotRequired[list[str]]
    communityIds: NotRequired[list[str]]
    tokenId: NotRequired[str]
    prefix: NotRequired[str]
    expiresAt: NotRequired[str]
    communityId: NotRequired[str]
    count: NotRequired[int]


class Event(TypedDict):
    id: str
    type: str
    at: str
    actor: Account | None
    pageId: str | None
    messageId: str | None
    message: PlainMessage | None
    aboutId: str | None
    data: EventData


class Inbox(TypedDict):
    events: list[Event]
    hasMore: bool
    nextCursor: str
    unread: int


class ChangedReaction(TypedDict):
    id: str
    emoji: str
    author: Account
    createdAt: str


class Change(TypedDict):
    id: str
    type: str
    at: str
    pageId: str
    communityId: str | None
    messageId: str | None
    message: PlainMessage | None
    reaction: ChangedReaction | None
    posts: int | None


class Unread(TypedDict):
    unread: int


class Pulse(Unread):
    pending: int
    limits: dict[str, int]
    now: str
