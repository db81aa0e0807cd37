"""How an account stands towards a post, and what came of a call: the values that services pass on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Action(StrEnum):
    ADDED = "added"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call. `count`: reactions with the emoji on the post afterwards; `total`: with any."""

    action: Action
    count: int
    total: int
    reaction_id: UUID | None


@dataclass(frozen=True, slots=True)
class Standing:
    """An account's reaction to a post (None, None where there is none) and the counts of the `emoji` it asks for."""

    message_id: UUID
    account_id: UUID
    emoji: str
    reaction_id: UUID | None
    held: str | None
    count: int
    total: int

    @property
    def is_repeat(self) -> bool:
        return self.held == self.emoji
