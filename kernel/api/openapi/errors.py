"""The error responses of an operation in the OpenAPI document.

The components of the bodies of refusals in the OpenAPI document.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from copy import deepcopy
from functools import cache
from http import HTTPStatus
from typing import Any

from kernel.api.error_pages import described
from kernel.api.exceptions import (
    AgentRateLimited,
    AgentRouteNotAllowed,
    AgentScopeMissing,
    AgentSuspended,
    ApiError,
    ContentTooLong,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    InvalidCursor,
    InvalidIdempotencyKey,
    InvalidInput,
    InvalidToken,
    LengthRequired,
    NotAuthenticated,
    OverCap,
    PayloadTooLarge,
    RateLimited,
    SuperAdminRequired,
    TemporarilyUnavailable,
    TokenExpired,
    TokenRevoked,
    UnsupportedContentEncoding,
    UnsupportedMediaType,
    UserMismatch,
)
from kernel.api.exceptions.base import errors_by_code
from kernel.api.fields import ListQuery
from kernel.api.openapi.response_headers import of_refusals, references
from kernel.api.operations import Operation, all_operations
from kernel.api.requests import JSON_TYPE


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def _text(description: str, **schema: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **schema}


def _number(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


def _list(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


COMPONENTS = "#/components/schemas/"
CODE_HELP = "The code; expect others. A part after a colon is a scope."
POINTER_HELP = "A JSON Pointer into the body, or `?name` of a parameter."
BASE = {
    "message": _text("What to do next, in one sentence."),
    "requestId": _text("As in `X-Request-ID`."),
    "docs": _text("The page that explains the code.", format="uri"),
}
LIMIT = {
    "field": _text("A JSON path into the body, or the name of a parameter or header."),
    "max": _number("The cap."),
}
OPTIONAL = {
    **LIMIT,
    "details": _list({"$ref": f"{COMPONENTS}ErrorDetail"}, "Everything that is wrong, by its place."),
    "allowed": _list({"type": "string"}, "What would do; of a scope, those granted."),
    "needed": _list({"type": "string"}, "The scopes that the request needs."),
    "counter": _text("The limit that is reached."),
    "limit": _number("How much the limit allows."),
    "retryAfter": _number("Seconds to wait."),
    "status": _text("The status that does not allow it."),
    "error_description": _text("The message for clients of OAuth, in ASCII."),
    "waiting_for": _text("Who is to act: `person` or `super_admin`."),
    "interval": _number("Seconds until the next request for the token makes sense."),
    "rule": _text("The rule of the community that does not allow it."),
}


def error_components(codes: list[str]) -> dict[str, Any]:
    """The components; `codes`: those that responses may have.

    A schema for each operation and status would be hundreds of equal classes in a client.
    """
    over_cap = sorted(error.default_code for error in OverCap.__subclasses__())
    required = ["error", "message", "requestId", "docs"]
    components = {
        "Error": {
            **_object(required, error=_text(CODE_HELP, **{"x-extensible-enum": codes}), **BASE, **OPTIONAL),
            "examples": [described(RateLimited)["example"]],
        },
        "LimitError": {
            "allOf": [
                {"$ref": f"{COMPONENTS}Error"},
                {
                    "type": "object",
                    "required": ["field", "max"],
                    "properties": {"error": _text("Which cap it is.", enum=over_cap)},
                },
            ],
            "examples": [described(ContentTooLong)["example"]],
        },
        "ErrorDetail": _object(["pointer", "message"], pointer=_text(POINTER_HELP), message=_text("What is wrong.")),
    }
    # The generator inlines some of them in place.
    return deepcopy(components)


# The component of the refusals that operations do not list one by one.
OTHER = "Error"
HEADERS_OF_OTHER = ("X-Request-ID", "Retry-After", "WWW-Authenticate")
# Operations do not list a refusal that so many of them have.
MANY = 3
GENERAL = "kernel.api."


def possible_errors(operation: Operation) -> set[type[ApiError]]:
    """Every refusal of an operation: the declared ones, and those that its declaration implies."""
    errors: set[type[ApiError]] = {*operation.errors, TemporarilyUnavailable, InvalidToken, TokenExpired, TokenRevoked}
    errors |= {InvalidInput} if operation.body or operation.query or operation.is_write else set()
    errors |= {InvalidCursor} if operation.query and issubclass(operation.query, ListQuery) else set()
    errors |= {UserMismatch, NotAuthenticated}
    if not operation.accepts_agents:
        errors.add(AgentRouteNotAllowed)
    else:
        errors.add(AgentSuspended)
    errors |= {AgentScopeMissing} if operation.scopes else set()
    errors |= {AgentRateLimited} if operation.is_charged else set()
    if operation.super_admin:
        errors.add(SuperAdminRequired)
    if operation.has_body:
        errors |= {LengthRequired, PayloadTooLarge, UnsupportedContentEncoding, UnsupportedMediaType}
    errors |= {InvalidIdempotencyKey} if operation.takes_key else set()
    errors |= {IdempotencyInProgress, IdempotencyKeyReused} if operation.stores_response else set()
    return errors | {RateLimited}


def own_errors(operation: Operation) -> set[type[ApiError]]:
    """The refusals that not every operation of its kind has."""
    errors = set(operation.errors)
    errors |= {AgentScopeMissing} if operation.scopes else set()
    errors |= {AgentRateLimited} if operation.is_charged else set()
    return errors | ({SuperAdminRequired} if operation.super_admin else set())


def own_codes(operation: Operation) -> str:
    """The line of an operation's description about the refusals that few others have; empty if there are none.

    LimitError has the codes of 413.
    """
    errors = by_status(error for error in own_errors(operation) - _frequent_errors() if not issubclass(error, OverCap))
    return "; ".join(f"{status} {codes_text(of_status)}" for status, of_status in sorted(errors.items()))


@cache
def _frequent_errors() -> set[type[ApiError]]:
    operations = (operation for _path, _method, operation in all_operations())
    declared = Counter(error for operation in operations for error in own_errors(operation))
    return {error for error, times in declared.items() if times >= MANY}


def refusals(operation: Operation) -> dict[str, dict[str, str]]:
    """The responses of refusals: each status that `default` does not describe whole, and `default` for all others."""
    return {str(status): _reference(_name(status)) for status in _special(operation)} | {"default": _reference(OTHER)}


def refusal_components() -> dict[str, Any]:
    """The response of `default`, and one for each status with another schema or more headers."""
    operations = [operation for _path, _method, operation in all_operations()]
    special = sorted({status for operation in operations for status in _special(operation)})
    possible = by_status({error for operation in operations for error in possible_errors(operation)})
    other = {
        "description": "A refusal: its code is one that the operation lists, or one that no operation lists.",
        "headers": references(HEADERS_OF_OTHER),
        **_content("Error"),
    }
    return {OTHER: other} | {_name(status): _component(status, possible[status]) for status in special}


def _special(operation: Operation) -> list[int]:
    """The statuses of an operation's own refusals with another schema or more headers than `default`."""
    return [
        status
        for status, errors in sorted(by_status(own_errors(operation)).items())
        if _schema(errors) != "Error" or not of_refusals(errors).keys() <= {*HEADERS_OF_OTHER}
    ]


def known_codes() -> list[str]:
    """The codes of all operations, and those of requests that reach none."""
    operations = (operation for _path, _method, operation in all_operations())
    possible = {error for operation in operations for error in possible_errors(operation)}
    listed = errors_by_code().items()
    return [code for code, error in listed if error in possible or error.__module__.startswith(GENERAL)]


def _component(status: int, errors: list[type[ApiError]]) -> dict[str, Any]:
    headers = of_refusals(errors)
    described = {"description": HTTPStatus(status).phrase, **({"headers": headers} if headers else {})}
    return described | _content(_schema(errors))


def _schema(errors: list[type[ApiError]]) -> str:
    return "LimitError" if all(issubclass(error, OverCap) for error in errors) else "Error"


def _name(status: int) -> str:
    return HTTPStatus(status).phrase.title().replace(" ", "")


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/responses/{name}"}


def _content(schema: str) -> dict[str, Any]:
    return {"content": {JSON_TYPE: {"schema": {"$ref": f"{COMPONENTS}{schema}"}}}}


def by_status(errors: Iterable[type[ApiError]]) -> dict[int, list[type[ApiError]]]:
    grouped: dict[int, list[type[ApiError]]] = defaultdict(list)
    for error in errors:
        grouped[error.status_code].append(error)
    return {status: sorted(of_status, key=lambda error: error.default_code) for status, of_status in grouped.items()}


def codes_text(errors: list[type[ApiError]]) -> str:
    return ", ".join(f"`{error.default_code}`" for error in errors)
