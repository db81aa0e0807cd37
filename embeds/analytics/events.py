"""The names of events, and the caps on what a day of an embed keeps apart."""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum

EVENT_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z", re.ASCII)
OWN_NAMES_MAX = 50
PATHS_MAX = 200
# Cannot be sent as a name, and no path starts with an underscore.
OTHER = "_other"
SLOTS = 4


class KnownEvent(StrEnum):
    """What the loader and the panel send. Other names count as the owner's own events."""

    EMBED_LOAD = "embed_load"
    TRIGGER_VIEW = "trigger_view"
    TRIGGER_CLICK = "trigger_click"
    PANEL_OPEN = "panel_open"
    PANEL_CLOSE = "panel_close"
    POST_CREATED = "post_created"
    REPLY_CREATED = "reply_created"
    REACTION_ADDED = "reaction_added"


KNOWN_EVENTS = [event.value for event in KnownEvent]


def slot_of(day: date) -> int:
    """The partition of the ring that a day uses."""
    return day.toordinal() % SLOTS
