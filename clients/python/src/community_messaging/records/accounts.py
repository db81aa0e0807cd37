"""Accounts, and what their credentials may do."""

from __future__ import annotations

from typing import TypedDict


class Account(TypedDict):
    id: str
    name: str
    handle: str
    kind: str


class DeviceCode(TypedDict):
    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int


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
