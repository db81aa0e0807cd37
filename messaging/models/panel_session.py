from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models.functions import Now

from kernel.api.ids import new_id
from messaging.models.account import Account

DIGEST_BYTES = 32
# Unused for so long, a session is ended.
LIFETIME = timedelta(days=30)
# Of one account: one for each site in each browser. The least recently used ones give way.
SESSIONS_MAX = 50


class PanelSessionQuerySet(models.QuerySet["PanelSession"]):
    def in_use(self) -> PanelSessionQuerySet:
        return self.filter(last_used_at__gt=Now() - LIFETIME)


class PanelSession(models.Model):
    """A sign-in of a person to the panel of one site in one browser. Only a keyed digest of the cookie is stored."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    digest = models.BinaryField(unique=True, max_length=DIGEST_BYTES)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="panel_sessions")
    # The account's value at the sign-in: another one now means that its sessions were ended.
    sessions_valid_from = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    # Written at most once a day.
    last_used_at = models.DateTimeField(db_default=Now(), db_index=True)

    objects = PanelSessionQuerySet.as_manager()
