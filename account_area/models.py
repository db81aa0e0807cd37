from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Submission(models.Model):
    """A form that was carried out, so that a second press of its button changes nothing (see `submissions`)."""

    key = models.UUIDField(primary_key=True, editable=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # The page that shows the result.
    location = models.CharField(max_length=300, default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [models.Index("created_at", name="old_submissions")]
