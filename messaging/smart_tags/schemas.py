"""Builders of the payload schemas of smart tags (JSON Schema 2020-12)."""

from __future__ import annotations

from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
RATIONALE_MAX = 4_000
URL_MAX = 2_048

RATIONALE: dict[str, Any] = {
    "type": "string",
    "maxLength": RATIONALE_MAX,
    "description": "Why the author thinks so.",
}
LINK: dict[str, Any] = {
    "type": "string",
    "format": "uri",
    "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]",
    "maxLength": URL_MAX,
}
FRACTION: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}


def text(longest: int) -> dict[str, Any]:
    """A string of 1 to `longest` characters, not all of them white space."""
    return {"type": "string", "minLength": 1, "maxLength": longest, "pattern": r"\S"}


def list_of(item: dict[str, Any], *, least: int = 0, most: int) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": least, "maxItems": most, "uniqueItems": True}


def one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


def closed(properties: dict[str, Any], *, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object with only these properties and `rationale`."""
    return {**_object({**properties, "rationale": RATIONALE}, required), "additionalProperties": False}


def open_to_any() -> dict[str, Any]:
    """An object with any properties; `rationale` is text."""
    return _object({"rationale": RATIONALE}, ())


def _object(properties: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    needed = {"required": list(required)} if required else {}
    return {"$schema": DIALECT, "type": "object", "properties": properties, **needed}
