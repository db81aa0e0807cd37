from __future__ import annotations

from django.db import models
from django.db.models import F
from django.utils import timezone

from config.api.ids import new_id
from messaging.models import Account, Message

EMOJI_MAX = 32


class Reaction(models.Model):
    """One account's emoji on one post. Another emoji takes its place in the same row.

    The counts on the post change in the transaction that changes the row (see `reactions.services`); nothing else
    writes this table.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    message = models.ForeignKey(Message, on_delete=models.PROTECT, db_index=False, related_name="reactions")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="reactions")
    emoji = models.CharField(max_length=EMOJI_MAX)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["message", "account"], name="one_reaction_per_account"),
        ]
        indexes = [
            models.Index("message", F("created_at").desc(), F("id").desc(), name="reactions_of_post"),
        ]

    def __str__(self) -> str:
        return f"{self.emoji} on {self.message_id}"
