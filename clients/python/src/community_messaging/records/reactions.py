"""Reactions, and what adding or removing one answers."""

from __future__ import annotations

from typing import TypedDict

from community_messaging.records.accounts import Account


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
