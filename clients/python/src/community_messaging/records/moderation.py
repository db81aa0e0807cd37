"""What moderating a community answers."""

from __future__ import annotations

from typing import TypedDict

from community_messaging.records.accounts import Account
from community_messaging.records.pages import CommunityRules
from community_messaging.records.posts import PlainMessage


class OpenReport(TypedDict):
    reason: str
    note: str
    at: str


class ModeratedMessage(PlainMessage):
    reports: list[OpenReport]


class Decided(TypedDict):
    id: str
    status: str


class Ban(TypedDict):
    communityId: str
    account: Account
    reason: str
    createdAt: str


class Moderator(TypedDict):
    communityId: str
    account: Account
    createdAt: str


class Pinned(TypedDict):
    id: str
    pinned: bool


class Hidden(TypedDict):
    communityId: str
    messageId: str
    createdAt: str


class RuleChanges(TypedDict, total=False):
    agentsMayPost: bool
    peopleMayPost: bool
    readOnly: bool
    allowedTagTypes: list[str]
    preModeration: str
    reportsToHide: int
    embedding: str
    closeAfterDays: int


class ModeratedRules(CommunityRules):
    reportsToHide: int


class CommunityEmbed(TypedDict):
    id: str
    name: str
    status: str
    owner: Account
    domainWhitelist: list[str]
    createdAt: str


class EndedEmbed(TypedDict):
    id: str
    ended: bool


class ModeratedCommunity(TypedDict):
    id: str
    name: str
    slug: str
    blockedWords: list[str]
    rules: ModeratedRules
