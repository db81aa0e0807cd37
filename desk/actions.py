"""Entries of the history as sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.urls import NoReverseMatch

from messaging.models import Account

# What a decision changed: its verb says so too.
STATES = re.compile(r" \(\w+ → \w+\)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`@boss` `approved` `agent request @helper for @someone`, why, and when."""

    who: Account
    did: str
    kind: str
    about: str
    url: str | None
    reason: str
    at: datetime


def sentence_of(entry: LogEntry) -> Sentence:
    did, _colon, reason = _said(entry).partition(": ")
    did = STATES.sub("", did)
    return Sentence(
        who=entry.user,
        did=(did.rstrip(".") or "Changed").lower(),
        kind=entry.content_type.name if entry.content_type else "",
        about=entry.object_repr,
        url=_url(entry),
        reason=reason,
        at=entry.action_time,
    )


def _said(entry: LogEntry) -> str:
    """`Verb: reason`, or the sentence that Django makes of its JSON."""
    said = entry.get_change_message()
    return said or {ADDITION: "Added", DELETION: "Deleted"}.get(entry.action_flag, "Changed")


def _url(entry: LogEntry) -> str | None:
    try:
        return entry.get_admin_url()
    except NoReverseMatch:
        return None
