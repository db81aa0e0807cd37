from __future__ import annotations

import re
from typing import Any

import orjson
from ada_url import URL
from rest_framework import serializers

from kernel.api.exceptions import PayloadTooLarge
from kernel.api.fields import Object, Text
from kernel.api.openapi.field_schemas import COMMON_TYPES, END
from messaging.accounts.names import collapsed, validate_edges, validate_name
from messaging.pages.page_ids import PAGE_ID, URL_MAX
from messaging.smart_tags import RATIONALE_MAX, SMART_TAGS

CONTEXT_ANCHOR_MAX = 65_536
# For the OpenAPI document.
EXAMPLE_PAGE_URL, EXAMPLE_PAGE_ID = "https://example.com/article", "p1_mmstqkiendt2hhaggi6j4oxjr4yqolle"
PAGE_ID_SCHEMA = {"type": "string", "minLength": 1, "pattern": f"^{PAGE_ID.pattern.removesuffix(END)}$"}
COMMON_TYPES["PageId"] = {
    **PAGE_ID_SCHEMA,
    "description": "The id of a page, from normalizeUrl.",
    "examples": [EXAMPLE_PAGE_ID],
}


class Name(Text):
    """The trimmed and collapsed name of an account or agent; `messaging.accounts.names` checks its characters."""

    def __init__(self, *, max_length: int, **kwargs: Any) -> None:
        super().__init__(trim=True, max_length=max_length, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        data = collapsed(data) if isinstance(data, str) else data
        name = super().to_internal_value(data)
        validate_name(name)
        validate_edges(data, name)
        return name


class PageIdText(Text):
    """The id of a page in a request. Its form is not checked here: the refusal of a URL says what to do."""

    documented = PAGE_ID_SCHEMA


class PageIdField(serializers.CharField):
    """The id of a page in a response."""

    documented = PAGE_ID_SCHEMA


class PageUrl(Text):
    """The URL of a page, in any form; normalizing refuses what is none."""

    # Not "uri": a host or path may have letters beyond ASCII.
    documented = {"format": "iri", "maxLength": URL_MAX}


class TagType(Text):
    """The type of a smart tag; the serializer validates it with its payload."""

    documented = {"enum": sorted(SMART_TAGS)}


class WebUrl(Text):
    """An http or https URL with a host and without user info."""

    documented = {"format": "iri", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"}
    default_error_messages = {"url": "Not an http or https URL with a host and without user info."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            parsed = URL(text)
        except ValueError:
            self.fail("url")
        # Stricter than browsers, which also accept surrounding blanks, missing slashes and an empty authority.
        scheme, _, rest = text.partition("://")
        authority = re.split("[/?#]", rest, maxsplit=1)[0]
        if scheme.lower() not in {"http", "https"} or not authority or "@" in authority or not parsed.hostname:
            self.fail("url")
        if parsed.username or parsed.password or " " in text or not text.isprintable():
            self.fail("url")
        return text


class PayloadField(Object):
    """The payload of a smart tag. `cap` limits it in bytes, RATIONALE_MAX its `rationale` in characters."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        payload = super().to_internal_value(data)
        rationale = payload.get("rationale")
        if isinstance(rationale, str) and len(rationale) > RATIONALE_MAX:
            raise PayloadTooLarge(field="payload.rationale", max=RATIONALE_MAX, unit="characters")
        return payload


class ContextAnchorField(Object):
    default_error_messages = {"too_large": "Over {max} bytes of JSON."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        anchor = super().to_internal_value(data)
        if len(orjson.dumps(anchor)) > CONTEXT_ANCHOR_MAX:
            self.fail("too_large", max=CONTEXT_ANCHOR_MAX)
        return anchor
