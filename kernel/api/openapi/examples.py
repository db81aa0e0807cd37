"""The examples of responses, from the examples of their schemas' fields, as Swagger UI and Redoc compose them."""

from __future__ import annotations

from typing import Any

Schemas = dict[str, dict[str, Any]]


def add_examples(document: dict[str, Any], overlays: dict[str, dict[str, Any]]) -> None:
    """Add an example to the response of each operation in `overlays`: what differs from that of its schema."""
    schemas = document["components"]["schemas"]
    operations = (operation for methods in document["paths"].values() for operation in methods.values())
    for operation in operations:
        if overlay := overlays.get(operation["operationId"]):
            status = next(status for status in operation["responses"] if status.startswith("2"))
            content = operation["responses"][status]["content"]
            media = next(media for media_type, media in content.items() if media_type.endswith("json"))
            media["example"] = sample(media["schema"], schemas) | overlay


def sample(schema: dict[str, Any], schemas: Schemas) -> Any:
    """The example of a schema: its own, or that of its parts, without the optional fields that have none."""
    while "$ref" in schema and "examples" not in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if "examples" in schema:
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    if "allOf" in schema:
        return {name: value for part in schema["allOf"] for name, value in sample(part, schemas).items()}
    if "oneOf" in schema:
        return sample(schema["oneOf"][0], schemas)
    # A part of an `allOf` does not repeat that it is an object.
    of_type = schema.get("type", "object")
    if "null" in of_type:
        return None
    if of_type == "array":
        return [sample(schema["items"], schemas)]
    if of_type != "object":
        raise LookupError(f"no example: {schema}")
    fields, required = schema.get("properties", {}), schema.get("required", ())
    return {
        name: sample(part, schemas)
        for name, part in fields.items()
        if name in required or part.get("examples", [None])[0] is not None
    }
