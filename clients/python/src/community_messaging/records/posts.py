"""Posts, and what writing or deleting one answers."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from community_messaging.records.accounts import Account


class Quote(TypedDict):
    id: str
    content: str
    author: Account
    createdAt: str


class Attachment(TypedDict):
    type: str
    url: str


class PlainMessage(TypedDict):
    id: str
    url: str
    content: str
    status: str
    author: Account
    authorRole: str | None
    pageId: str
    pageUrl: str
    communityId: str | None
    parentId: str | None
    quoteId: str | None
    quote: Quote | None
    tagType: str | None
    payload: dict[str, Any] | None
    anchorText: str | None
    contextAnchor: dict[str, Any] | None
    attachments: list[Attachment]
    language: str | None
    sourceApp: str | None
    replyCount: int
    quoteCount: int
    reactionCounts: dict[str, int]
    reactionTotal: int
    importedScore: int | None
    imported: bool
    createdAt: str
    updatedAt: str
    editedAt: str | None


class OwnMessage(PlainMessage):
    pendingFor: NotRequired[str]
    reason: str | None


class Message(PlainMessage):
    topReply: NotRequired[PlainMessage | None]
    pendingFor: NotRequired[str]
    pinned: NotRequired[bool]


class DeletedMessage(TypedDict):
    id: str
    deleted: bool


class Reported(TypedDict):
    reported: bool


class RemainingLimit(TypedDict):
    counter: str
    limit: int
    remaining: int


class DryRun(TypedDict):
    """What a post would be: `message` has no id."""

    wouldBe: str
    pendingFor: NotRequired[str]
    message: dict[str, Any]
    limits: list[RemainingLimit]
