"""Checks the arguments of a tool, and refuses them as the API refuses fields: every fault by its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from rest_framework.exceptions import ErrorDetail

from kernel.api.exception_handler import invalid_input


class Arguments(msgspec.Struct, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The arguments of a tool. `null` is an absent value of an optional one."""


def checked(arguments: type[Arguments], sent: Mapping[str, Any], choices: Mapping[str, list[str]]) -> Arguments:
    """The arguments; raises InvalidInput. `choices` are those of the arguments that have some."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(arguments)}
    given = {
        name: value for name, value in sent.items() if value is not None or name not in fields or fields[name].required
    }
    faults: dict[str, list[ErrorDetail]] = {}
    allowed: dict[str, list[str]] = {}
    for name, field in fields.items():
        if name in given:
            try:
                msgspec.convert(given[name], field.type)
            except msgspec.ValidationError as failure:
                allowed[name] = choices.get(name, [])
                wrong = f"Send one of: {', '.join(allowed[name])}" if allowed[name] else failure
                faults[name] = [ErrorDetail(f"{wrong}.", "invalid")]
        elif field.required:
            faults[name] = [ErrorDetail("This argument is required.", "required")]
    for name in given.keys() - fields.keys():
        allowed[name] = list(fields)
        faults[name] = [ErrorDetail("The tool has no such argument.", "unknown")]
    if faults:
        refusal = invalid_input(faults)
        if first := allowed.get(next(iter(faults))):
            refusal.fields["allowed"] = first
        raise refusal
    return msgspec.convert(given, arguments)
