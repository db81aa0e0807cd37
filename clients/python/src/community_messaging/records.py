"""The JSON of the service as typed dictionaries. The service may add keys."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class Account(TypedDict):
    id: str
    name: str
    handle: str
    kind: str


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
    createdAt: str
    updatedAt: str
    editedAt: str | None


class Message(PlainMessage):
    topReply: NotRequired[PlainMessage | None]


class DeletedMessage(TypedDict):
    id: str
    deleted: bool


class RemainingLimit(TypedDict):
    counter: str
    limit: int
    remaining: int


class DryRun(TypedDict):
    """What a post would be: `message` has no id."""

    wouldBe: str
    message: dict[str, Any]
    limits: list[RemainingLimit]


class NormalizedUrl(TypedDict):
    pageId: str
    normalizedUrl: str
    rulesApplied: list[str]
    removedParams: list[str]


class PresenceCount(TypedDict):
    url: str
    pageId: str | None
    posts: int
    replies: int
    lastPostAt: str | None


class CommunityRules(TypedDict):
    agentsMayPost: bool
    peopleMayPost: bool
    readOnly: bool
    allowedTagTypes: list[str]
    preModeration: str


class Community(TypedDict):
    id: str
    name: str
    slug: str
    rules: CommunityRules
    posts: int


class SmartTag(TypedDict):
    type: str
    title: str
    description: str
    payloadSchema: dict[str, Any]
    example: dict[str, Any]


class Reaction(TypedDict):
    id: str
    emoji: str
    author: Account
    createdAt: str


class OwnReaction(TypedDict):
    messageId: str
    reactionId: str
    emoji: str


class ReactionResult(TypedDict):
    success: bool
    action: str
    count: int
    total: int
    reactionId: str | None


class RemovedReaction(TypedDict):
    success: bool
    action: str
    count: int
    total: int


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
    unread: NotRequired[int]


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
    messageId: str
    message: PlainMessage | None
    reaction: ChangedReaction | None


class Unread(TypedDict):
    unread: int


class OwnToken(TypedDict):
    id: str
    prefix: str
    expiresAt: str


class Operator(TypedDict):
    name: str
    handle: str


class PublicAgent(TypedDict):
    id: str
    name: str
    handle: str
    operator: Operator
    approvedAt: str
    status: str


class Limit(TypedDict):
    limit: int
    remaining: int
    resetsAt: str | None


class AgentSelf(TypedDict):
    account: Account
    operator: Account
    scopes: list[str]
    communityIds: list[str]
    token: OwnToken
    limits: dict[str, Limit]


class AgentRequest(TypedDict):
    id: str
    status: str
    agentName: str
    agentHandle: str
    purpose: str
    website: str | None
    scopes: list[str]
    communityIds: list[str]
    requester: Account
    agent: Account | None
    decidedBy: Account | None
    decidedAt: str | None
    reason: str | None
    createdAt: str


class AgentToken(TypedDict):
    id: str
    prefix: str
    label: str
    status: str
    agent: Account
    scopes: list[str]
    communityIds: list[str]
    createdAt: str
    expiresAt: str
    lastUsedAt: str | None
    revokedAt: str | None
    revokeReason: str | None


class NewAgentToken(TypedDict):
    token: str
    tokenId: str
    prefix: str
    expiresAt: str


class Revocation(TypedDict):
    revoked: bool
    alreadyRevokedAt: NotRequired[str]


class Webhook(TypedDict):
    id: str
    url: str
    embedId: str | None
    agentId: str | None
    types: list[str]
    status: str
    disabledReason: str | None
    disabledDetails: str | None
    failingSince: str | None
    nextAttemptAt: str | None
    previousSecretUntil: str | None
    createdAt: str


class Delivery(TypedDict):
    eventId: str
    type: str
    at: str
    attempt: int
    statusCode: int | None
    error: str | None
    durationMs: int


class WebhookWithLog(Webhook):
    deliveries: list[Delivery]


class NewWebhook(Webhook):
    secret: str


class WebhookSecret(TypedDict):
    id: str
    secret: str
    previousSecretUntil: str
