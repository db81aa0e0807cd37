from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from kernel.api.ids import new_id
from messaging.models import Account, Message

EMOJI_MAX = 32
NO_EMOJI = Q(emoji="")


class Reaction(models.Model):
    """An account's emoji on a post. A new emoji replaces it in the same row.

    The counts on the post change in the transaction that changes the row: see `reactions.services`, and for the other
    writers `reactions.personal_data`, `moving.imports` and `moving.claims`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    message = models.ForeignKey(Message, on_delete=models.PROTECT, db_index=False, related_name="reactions")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, db_index=False, related_name="reactions")
    emoji = models.CharField(max_length=EMOJI_MAX)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "message"], name="one_reaction_per_account"),
            models.CheckConstraint(condition=~NO_EMOJI, name="reaction_has_emoji"),
        ]
        indexes = [
            # The condition is always true. PostgreSQL uses a partial index only for queries that state its condition:
            # the list query does, the query for one account's reaction does not. For a prepared plan, both indexes have
            # the same estimated cost, and with this one it would read every reaction of a viral post.
            models.Index(
                "message", F("created_at").desc(), F("id").desc(), condition=~NO_EMOJI, name="reactions_of_post"
            ),
            # Of the check of the foreign key when a post is deleted, which states no condition. The account is in it
            # because the query for one account's reaction may choose this index: it then reads that reaction alone.
            models.Index("message", "account", name="reactions_by_post"),
        ]

    def __str__(self) -> str:
        return f"{self.emoji} of {self.account}"


class Action(StrEnum):
    ADDED = "added"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a write. `count`: the post's reactions with the emoji after it; `total`: with any emoji."""

    action: Action
    count: int
    total: int
    reaction_id: UUID | None


@dataclass(frozen=True, slots=True)
class ReactionState:
    """An account's reaction to a post (`reaction_id`, `current`; None without one) and the counts of `emoji`.

    `toggles`: the call removes a reaction that has this emoji already.
    """

    message_id: UUID
    account_id: UUID
    emoji: str
    reaction_id: UUID | None
    current: str | None
    count: int
    total: int
    toggles: bool

    @property
    def is_repeat(self) -> bool:
        return self.current == self.emoji

    @property
    def is_removal(self) -> bool:
        return self.toggles and self.is_repeat
