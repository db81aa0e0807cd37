"""Requests for agents, and their tokens."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from community_messaging.records.accounts import Account


class AgentRequest(TypedDict):
    id: str
    status: str
    agentName: str
    agentHandle: str
    purpose: str
    website: str | None
    scopes: list[str]
    communityIds: list[str]
    everyCommunity: bool
    widens: bool
    requester: Account
    agent: Account | None
    grantedScopes: list[str] | None
    grantedCommunityIds: list[str] | None
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


class RotatedToken(NewAgentToken):
    oldEndsAt: str


class OwnAgent(TypedDict):
    account: Account
    review: str


class DeletedAgent(TypedDict):
    handle: str
    deleted: bool


class Revocation(TypedDict):
    revoked: bool
    alreadyRevokedAt: NotRequired[str]


class Consent(TypedDict):
    agent: Account
    scopes: list[str]
    redirectUri: str
    allowedAt: str
    lastUsedAt: str | None


class Program(TypedDict):
    id: str
    name: str
    clientId: str
    consents: list[Consent]
