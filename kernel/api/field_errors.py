"""The validation errors of DRF as a refusal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kernel.api.exceptions import BODY, InvalidInput

Step = str | int


class Fault(NamedTuple):
    """What is wrong at a path into the body or the query string. `code` is DRF's."""

    path: tuple[Step, ...]
    text: str
    code: str


def invalid_input(detail: Any, refusal: type[InvalidInput] = InvalidInput, serializer: Any = None) -> InvalidInput:
    """The refusal for DRF's nested errors. `serializer` knows the choices of a field."""
    faults = list(faults_of(detail))
    first = faults[0]
    allowed = choices_at(serializer, first.path) if first.code == "invalid_choice" else []
    return refusal(
        _message(first, allowed, more=len(faults) - 1),
        field=json_path(first.path),
        details=[{"pointer": pointer(fault.path, refusal.prefix), "message": fault.text} for fault in faults],
        **({"allowed": allowed} if allowed else {}),
    )


def faults_of(detail: Any, path: tuple[Step, ...] = ()) -> Iterator[Fault]:
    """The faults in DRF's nested errors."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            yield from faults_of(inner, path if key == "non_field_errors" else (*path, key))
    elif isinstance(detail, list) and any(isinstance(item, (Mapping, list)) for item in detail):
        for index, item in enumerate(detail):
            yield from faults_of(item, (*path, index))
    else:
        for item in detail if isinstance(detail, list) else [detail]:
            yield Fault(path, str(item), getattr(item, "code", ""))


def json_path(path: tuple[Step, ...]) -> str:
    """`attachments[3].url`, or `body` for the whole of it."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or BODY


def pointer(path: tuple[Step, ...], prefix: str) -> str:
    """`/attachments/3/url` (RFC 6901), or `?limit` for a query parameter."""
    escaped = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return prefix + "/".join(escaped) if path else ""


def choices_at(serializer: Any, path: tuple[Step, ...]) -> list[str]:
    """The choices of the field at a path; empty if it has none."""
    field = serializer
    for step in path:
        field = getattr(field, "child", None) if isinstance(step, int) else getattr(field, "fields", {}).get(step)
    choices = getattr(field, "choices", ())
    # Django's form fields have pairs, and an empty choice.
    values = [choice[0] if isinstance(choice, tuple) else choice for choice in choices]
    return [str(value) for value in values if value]


def _message(fault: Fault, allowed: list[str], *, more: int) -> str:
    field = json_path(fault.path)
    if fault.code == "required":
        message = f"Send `{field}`: it is required."
    elif allowed:
        message = f"Send as `{field}` one of: {', '.join(allowed)}."
    else:
        message = f"Correct `{field}`: {fault.text[:1].lower()}{fault.text[1:]}"
    return f"{message} ({more} more in details)" if more > 0 else message
