from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from messaging.smart_tags.discussion import DISCUSSION
from messaging.smart_tags.forms import FORMS
from messaging.smart_tags.tag import SmartTag

# In the order in which the API lists them.
SMART_TAGS: Mapping[str, SmartTag] = MappingProxyType({tag.type.value: tag for tag in (*DISCUSSION, *FORMS)})


def is_known(tag_type: str) -> bool:
    return tag_type in SMART_TAGS


def is_open(tag_type: str | None) -> bool:
    """Whether authors choose the property names of the payload."""
    return tag_type is not None and SMART_TAGS[tag_type].is_open
