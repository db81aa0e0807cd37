"""Pages, communities and smart tags."""

from __future__ import annotations

from typing import Any, TypedDict


class PageCommunity(TypedDict):
    id: str
    name: str
    slug: str
    proved: bool
    closed: bool


class NormalizedUrl(TypedDict):
    pageId: str
    normalizedUrl: str
    rulesApplied: list[str]
    removedParams: list[str]
    communities: list[PageCommunity]


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
    embedding: str
    closeAfterDays: int


class Community(TypedDict):
    id: str
    name: str
    slug: str
    rules: CommunityRules
    posts: int


class Discussion(TypedDict):
    communityId: str
    pageId: str
    closed: bool
    closedAt: str | None
    closesAt: str | None


class SmartTag(TypedDict):
    type: str
    title: str
    description: str
    payloadSchema: dict[str, Any]
    example: dict[str, Any]
