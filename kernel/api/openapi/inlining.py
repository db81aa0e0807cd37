"""Writes a schema that one other schema refers to in its place: a component is for what has several uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from typing import Any

PREFIX = "#/components/schemas/"


def inline_single_uses(document: dict[str, Any], named: Set[str]) -> None:
    """Generated clients name their types after components: those stay that are a body, a response, or have an id.

    `named`: others that stay, as the name of a generated type would be that of another component.
    """
    components = document["components"]
    schemas = components["schemas"]
    others = {**document, "components": {**components, "schemas": {}}}
    uses = Counter(reference for reference, _holder in _references(schemas))
    # Twice for each, so that these stay.
    uses.update(2 * [reference for reference, _holder in _references(others)])
    single = {
        PREFIX + name
        for name, schema in schemas.items()
        if uses[PREFIX + name] == 1 and name not in named and not _has_id(schema)
    }
    for reference, holder in [*_references(schemas)]:
        if reference in single:
            holder.pop("$ref")
            schema = schemas.pop(reference.removeprefix(PREFIX))
            # A description beside the reference is of the field, and precedes that of the type.
            holder |= {word: value for word, value in schema.items() if word not in holder}


def _has_id(schema: dict[str, Any]) -> bool:
    return "allOf" in schema or "id" in schema.get("properties", ())


def _references(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(reference, the object with it) of each."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"], part
        for value in [*part.values()]:
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)
