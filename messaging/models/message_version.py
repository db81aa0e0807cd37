from __future__ import annotations

from django.db import models

from messaging.models.message import Message


class MessageVersion(models.Model):
    """The content of a post before an edit or its deletion, by name of the column, for moderators.

    Versions are deleted after some days (see `messaging.posts.editing`).
    """

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="versions")
    content = models.JSONField()
    was_public = models.BooleanField()
    replaced_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["-replaced_at", "-id"]

    def __str__(self) -> str:
        return f"{self.message_id} until {self.replaced_at}"
