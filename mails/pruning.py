"""Deletes what mail servers have refused of addresses that are no longer of their account."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef
from django.db.models.functions import Lower

from mails.addresses import addresses
from mails.models import RefusedAddress


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count them, for `prune`. Also one whose mail was under way when the address was removed."""
    same = addresses().annotate(lower=Lower("email")).filter(user=OuterRef("account"), lower=Lower(OuterRef("address")))
    removed = RefusedAddress.objects.filter(~Exists(same))
    return {"refused addresses that were removed": removed.count() if dry_run else removed.delete()[0]}
