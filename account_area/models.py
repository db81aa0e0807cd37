from __future__ import annotations

from django.conf import settings
from django.contrib.sessions.models import Session
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


class AccountSession(models.Model):
    """Whose a session of the pages is, and what its person recognises it by.

    The database does not check that the session exists: a release without this table deletes sessions as well.
    """

    session = models.OneToOneField(Session, models.CASCADE, primary_key=True, related_name="+", db_constraint=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # The account's value at the sign-in: another one now means that its sessions were ended.
    sessions_valid_from = models.DateTimeField(null=True)
    # "Firefox on Linux"; neither the whole user agent nor an address is stored.
    device = models.CharField(max_length=60, default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    # Written at most once a day.
    last_used_at = models.DateTimeField(db_default=Now())
