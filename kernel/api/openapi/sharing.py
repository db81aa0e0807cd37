"""Makes components of what several operations have in common: parameters, responses, links, and the common types.

Writes a schema that one other schema refers to in its place: a component is for what has several uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from typing import Any

import orjson

from kernel.api.openapi.response_headers import component_name

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


NOT_MODIFIED = "NotModified"


def share_types(document: dict[str, Any], types: dict[str, dict[str, Any]]) -> None:
    """Replace each schema that equals a common type by a reference. `types`: their schemas, by name."""
    schemas = document["components"]["schemas"]
    _refer_to_types(document["paths"], types)
    _refer_to_types(schemas, types)
    document["components"]["schemas"] = dict(sorted((schemas | types).items()))


def share(document: dict[str, Any]) -> None:
    """Replace what occurs more than once by a reference."""
    components = document["components"]
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    shelves = {
        "parameters": [slot for operation in operations for slot in _parameters(operation)],
        "links": [slot for operation in operations for slot in _links(operation)],
        "responses": [slot for operation in operations for slot in _responses(operation)],
    }
    for shelf, slots in shelves.items():
        components[shelf] = components.get(shelf, {}) | _shared(shelf, slots)


Slot = tuple[Any, Any, str]


def _parameters(operation: dict[str, Any]) -> Iterator[Slot]:
    """(container, key, name of the component) of each."""
    parameters = operation.get("parameters", [])
    for index, parameter in enumerate(parameters):
        yield parameters, index, component_name(parameter["name"])


def _links(operation: dict[str, Any]) -> Iterator[Slot]:
    for response in operation["responses"].values():
        for name in response.get("links", {}):
            yield response["links"], name, name


def _responses(operation: dict[str, Any]) -> Iterator[Slot]:
    for status, response in operation["responses"].items():
        if "$ref" not in response:
            yield operation["responses"], status, response_name(operation["operationId"], status)


def response_name(operation_id: str, status: str) -> str:
    """After the first operation that has it; 304 is the same everywhere."""
    return NOT_MODIFIED if status == "304" else f"{operation_id}{status}"


def _shared(shelf: str, slots: list[Slot]) -> dict[str, Any]:
    """Replace the values in the slots, and return the components."""
    texts = [orjson.dumps(container[key], option=orjson.OPT_SORT_KEYS) for container, key, _name in slots]
    occurrences = Counter(texts)
    names: dict[bytes, str] = {}
    components: dict[str, Any] = {}
    for text, (container, key, name) in zip(texts, slots, strict=True):
        if occurrences[text] == 1:
            continue
        if text not in names:
            names[text] = _free(name, components)
            components[names[text]] = container[key]
        container[key] = {"$ref": f"#/components/{shelf}/{names[text]}"}
    return dict(sorted(components.items()))


def _free(name: str, components: dict[str, Any]) -> str:
    candidates = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(candidate for candidate in candidates if candidate not in components)


def _refer_to_types(part: Any, types: dict[str, dict[str, Any]]) -> None:
    """Replace each schema that equals a common type; a description beside it stays."""
    values = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for value in values:
        _refer_to_types(value, types)
    if not isinstance(part, dict):
        return
    for key, value in part.items():
        if not isinstance(value, dict):
            continue
        own = _own(value)
        if own and len(value.get("allOf", ())) == 1:
            # Beside a reference, OpenAPI 3.1 allows them.
            part[key] = {**value["allOf"][0], **own}
        elif name := _type_of(value, types):
            known = _own(types[name])
            beside = {word: text for word, text in own.items() if text != known.get(word)}
            part[key] = {"$ref": f"#/components/schemas/{name}", **beside}


def _type_of(schema: dict[str, Any], types: dict[str, dict[str, Any]]) -> str | None:
    if schema.get("type") != "string":
        return None
    form = _form(schema)
    for name, known in types.items():
        whole = _form(known)
        # The schema of a response has the format without its pattern.
        without_pattern = {word: value for word, value in whole.items() if word != "pattern"}
        if form == whole or ("format" in whole and form == without_pattern):
            return name
    return None


def _own(schema: dict[str, Any]) -> dict[str, Any]:
    """What a field may have beside a reference to its type."""
    return {word: schema[word] for word in ("description", "examples") if word in schema}


def _form(schema: dict[str, Any]) -> dict[str, Any]:
    return {word: value for word, value in schema.items() if word not in ("description", "examples")}
