"""Checks the arguments of a tool, and refuses them as the API refuses fields: every fault by its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import FieldInfo
from rest_framework.exceptions import ErrorDetail

from kernel.api.exception_handler import invalid_input
from kernel.api.exceptions import InvalidInput
from kernel.api.serializers import folded

# Names that models send for an argument, beside those that the API has for it.
NEAR_MISSES = {
    "id": "postId",
    "messageId": "postId",
    "parentId": "replyTo",
    "inReplyTo": "replyTo",
    "quoteId": "quote",
    "pageUrl": "url",
    "q": "query",
    "text": "content",
    "body": "content",
    "message": "content",
    "reaction": "emoji",
}
EXPECTED = {
    "boolean": "Send true or false",
    "string": "Send a text",
    "object": "Send an object",
    "array": "Send a list of texts",
}
UNKNOWN_MAX = 10
RENAMED = "renamed"


class Arguments(msgspec.Struct, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The arguments of a tool. `null` is an absent value of an optional one."""


class Fault(NamedTuple):
    """What is wrong with an argument, and what would do."""

    name: str
    text: str
    code: str = "invalid"
    allowed: Sequence[str] = ()


def checked(
    arguments: type[Arguments], sent: Mapping[str, Any], schemas: Mapping[str, Any], argument_of: Mapping[str, str]
) -> Arguments:
    """The arguments; raises InvalidInput.

    `schemas` are those of the arguments, and `argument_of` names them by their names in the API.
    """
    fields = {field.encode_name: field for field in msgspec.structs.fields(arguments)}
    given = {
        name: value for name, value in sent.items() if value is not None or name not in fields or fields[name].required
    }
    unknown = sorted(given.keys() - fields.keys())[:UNKNOWN_MAX]
    meant = {name: _meant(name, fields, argument_of) for name in unknown}
    # A name that is nearly right comes first: the argument that it means is not missing.
    faults = [
        Fault(name, f"`{name}` is called `{argument}` here.", RENAMED, [argument])
        for name, argument in meant.items()
        if argument is not None
    ]
    faults += _faults_of_fields(fields, given, schemas, meant=set(meant.values()))
    faults += [
        Fault(name, "The tool has no such argument.", "unknown", list(fields))
        for name, argument in meant.items()
        if argument is None
    ]
    if faults:
        raise _refusal(faults)
    return msgspec.convert(given, arguments)


def _faults_of_fields(
    fields: Mapping[str, FieldInfo], given: Mapping[str, Any], schemas: Mapping[str, Any], *, meant: Set[str | None]
) -> Iterator[Fault]:
    for name, field in fields.items():
        if name in given:
            try:
                msgspec.convert(given[name], field.type)
            except msgspec.ValidationError:
                schema = schemas[name]
                yield Fault(name, f"{_expected(schema)}.", allowed=schema.get("enum", ()))
        elif field.required and name not in meant:
            yield Fault(name, "This argument is required.", "required")


def _refusal(faults: Sequence[Fault]) -> InvalidInput:
    refusal = invalid_input({fault.name: [ErrorDetail(fault.text, fault.code)] for fault in faults})
    first = faults[0]
    if first.allowed:
        refusal.fields["allowed"] = list(first.allowed)
    if first.code == RENAMED:
        refusal.message = first.text
    return refusal


def _meant(name: str, fields: Iterable[str], argument_of: Mapping[str, str]) -> str | None:
    """The argument of which this is another name or another spelling; None if it resembles none."""
    spelled = {folded(field): field for field in fields}
    others = {folded(other): field for other, field in {**NEAR_MISSES, **argument_of}.items() if field in fields}
    return spelled.get(folded(name)) or others.get(folded(name))


def _expected(schema: Mapping[str, Any]) -> str:
    """What the argument accepts."""
    if "enum" in schema:
        return f"Send one of: {', '.join(schema['enum'])}"
    if schema["type"] != "integer":
        return EXPECTED[schema["type"]]
    if "minimum" in schema:
        return f"Send a whole number from {schema['minimum']:,} to {schema['maximum']:,}"
    return "Send a whole number"
