"""Webhooks and their deliveries."""

from __future__ import annotations

from typing import TypedDict


class Webhook(TypedDict):
    id: str
    url: str
    embedId: str | None
    agentId: str | None
    types: list[str]
    status: str
    disabledReason: str | None
    disabledDetails: str | None
    verifiedAt: str | None
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
