"""Event names, and the limits of separate names and paths per day of an embed."""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum

EVENT_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z", re.ASCII)
OWN_NAMES_MAX = 50
PATHS_MAX = 200
# Never collides: EVENT_NAME does not match it, and paths start with a slash.
OTHER = "_other"
SLOTS = 4


class KnownEvent(StrEnum):
    """Events that the loader and the panel send. All other names are custom events of the owner."""

    EMBED_LOAD = "embed_load"
    TRIGGER_VIEW = "trigger_view"
    TRIGGER_CLICK = "trigger_click"
    PANEL_OPEN = "panel_open"
    PANEL_CLOSE = "panel_close"
    POST_CREATED = "post_created"
    REPLY_CREATED = "reply_created"
    REACTION_ADDED = "reaction_added"


# What counts as a view. A discussion in the page has no trigger: it is viewed with the page.
VIEW, VIEW_IN_PAGE = KnownEvent.TRIGGER_VIEW, KnownEvent.EMBED_LOAD
KNOWN_EVENTS = [event.value for event in KnownEvent]


def slot_of(day: date) -> int:
    """Return the number of the partition that stores a day."""
    return day.toordinal() % SLOTS
