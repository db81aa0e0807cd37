"""The size of a page of a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernel.cache.rendering import to_json

# The limit of the response of a list, unless it contains a single message.
PAGE_BYTES = 2 * 1024 * 1024
ENVELOPE_BYTES = 200


def fitting(messages: Sequence[dict[str, Any]]) -> int:
    """How many of the messages fit into a response; at least one."""
    size = ENVELOPE_BYTES
    for count, message in enumerate(messages):
        size += len(to_json(message)) + 1
        if size > PAGE_BYTES:
            return max(count, 1)
    return len(messages)
