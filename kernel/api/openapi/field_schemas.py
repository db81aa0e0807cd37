"""The JSON schemas of serializers and their fields: the constraints that the fields enforce, and examples."""

from __future__ import annotations

from inspect import getdoc
from typing import Any

from django.conf import settings
from rest_framework.serializers import ChoiceField

from kernel.api.fields import Id, ListOf, Object, Text
from kernel.api.ids import CANONICAL
from kernel.api.openapi.example_values import BASE, ID, TIME
from kernel.api.serializers import BodySerializer, SentSerializer

# The end of text in Python; `$` in JSON Schema.
END = r"\Z"
# The types that many fields have, by the names of their components. `Text.documented` adds to them.
COMMON_TYPES: dict[str, dict[str, Any]] = {
    "Id": {
        "type": "string",
        "format": "uuid",
        "pattern": f"^{CANONICAL.pattern.removesuffix(END)}$",
        "description": "A UUID.",
        "examples": [ID],
    },
    "Time": {
        "type": "string",
        "format": "date-time",
        "description": "RFC 3339, UTC.",
        "examples": [TIME],
    },
}


def constrained(schema: dict[str, Any], field: Any) -> dict[str, Any]:
    schema.pop("x-spec-enum-id", None)
    if isinstance(field, Text):
        _constrain_text(schema, field)
    documented = getattr(field, "documented", {})
    if documented and isinstance(schema.get("type"), list):
        documented = {word: value for word, value in documented.items() if word != "type"}
        if "enum" in documented:
            documented["enum"] = [*documented["enum"], None]
    schema |= documented
    if "enum" in schema and isinstance(field, ChoiceField):
        schema.pop("minLength", None)
    if isinstance(field, ListOf) and field.cap is not None:
        schema["maxItems"] = field.cap
    if isinstance(field, ListOf) and not field.allow_empty:
        schema["minItems"] = 1
    if isinstance(field, Object):
        schema["additionalProperties"] = True
    if schema.get("additionalProperties") == {}:
        del schema["additionalProperties"]
    return _id(schema) if isinstance(field, Id) else schema


def _id(schema: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(schema["type"], list):
        return schema | {"pattern": COMMON_TYPES["Id"]["pattern"]}
    others = {word: value for word, value in schema.items() if word not in ("type", "format")}
    return {"oneOf": [{"$ref": "#/components/schemas/Id"}, {"type": "null"}], **others}


def _constrain_text(schema: dict[str, Any], field: Text) -> None:
    if not field.allow_blank:
        schema.setdefault("minLength", 1)
    if field.cap is not None:
        schema["maxLength"] = field.cap
    if field.pattern is not None:
        schema["pattern"] = f"^{field.pattern.pattern.removesuffix(END)}$"


def base_of(serializer: Any) -> Any:
    """The class of the fields that are described by a component of their own; None if there is none."""
    if isinstance(serializer, SentSerializer):
        return getattr(serializer, "openapi_base", None)
    base = type(serializer).__bases__[0]
    return base if getattr(base, "_declared_fields", None) else None


def extended(schema: dict[str, Any], base: dict[str, str], fields: set[str]) -> dict[str, Any]:
    """The schema of a class that adds fields to those of the component `base`."""
    own = {name: part for name, part in schema["properties"].items() if name not in fields}
    required = [name for name in schema.get("required", ()) if name in own]
    return {
        # `base` says that it is an object.
        "allOf": [base, {"properties": own, **({"required": required} if required else {})}],
        **{word: schema[word] for word in ("description", "examples") if word in schema},
    }


def _with_base_url(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_base_url(part) for name, part in value.items()}
    return value.replace(BASE, settings.BASE_URL) if isinstance(value, str) else value


def completed(schema: dict[str, Any], serializer: Any) -> dict[str, Any]:
    """With the example of the serializer class: for bodies as a whole, for other schemas by field."""
    example: dict[str, Any] = _with_base_url(getattr(serializer, "openapi_example", {}))
    if isinstance(serializer, BodySerializer):
        # The text of the base class, which `info` has for all of them.
        if schema.get("description") == getdoc(BodySerializer):
            del schema["description"]
        return schema | ({"examples": [example]} if example else {})
    if schema.get("description") == getdoc(type(serializer).__bases__[0]):
        # Of the class that has the fields in common, which is a component of its own.
        del schema["description"]
    for name, value in example.items():
        # Without an example, pages show the first of the choices.
        choices = getattr(serializer.fields[name], "choices", None)
        if choices is None or value is None or value != next(iter(choices)):
            schema["properties"][name]["examples"] = [value]
    return schema
