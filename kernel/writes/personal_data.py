"""Erases what the limits have stored of accounts. Stored responses are encrypted under keys that only clients have."""

from __future__ import annotations

from kernel.personal_data import Subject
from kernel.writes.models import RateLimitEvent


def erase(subject: Subject) -> int:
    return RateLimitEvent.objects.filter(account_id__in=subject.account_ids).delete()[0]
