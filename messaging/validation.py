"""What a post must have beside valid fields: text or something else to show, and a payload that fits its smart tag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernel.api.exceptions import InvalidInput
from messaging.accounts.names import is_visible_text
from messaging.posts.exceptions import EmptyMessage, InvalidPayload
from messaging.smart_tags import SMART_TAGS, is_known, validate_payload

TAG_TYPES = sorted(SMART_TAGS)


def require_content(values: Mapping[str, Any]) -> None:
    """Raises EmptyMessage (400) for a post by column that has no visible text, tag, attachment or quoted post."""
    given = (values.get(column) for column in ("tag_type", "attachments", "quote_id"))
    if not is_visible_text(values.get("content", "")) and not any(given):
        raise EmptyMessage


def require_tag(tag_type: str | None, payload: dict[str, Any] | None) -> None:
    """Raises InvalidInput for an unknown smart tag, or a payload without one; InvalidPayload. All are 400."""
    if tag_type is None:
        if payload is not None:
            raise InvalidInput(
                "Send a tagType beside the payload: GET /v1/smart-tags lists them.", field="tagType", allowed=TAG_TYPES
            )
        return
    if not is_known(tag_type):
        raise InvalidInput(
            "Send as tagType one of `allowed`: GET /v1/smart-tags describes them.", field="tagType", allowed=TAG_TYPES
        )
    problems = validate_payload(tag_type, payload or {})
    if problems:
        raise InvalidPayload(
            field="payload",
            details=[{"pointer": f"/payload{problem.pointer}", "message": problem.message} for problem in problems],
        )
