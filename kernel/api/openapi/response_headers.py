"""The headers of responses in the OpenAPI document. Each is described once, as a component."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from kernel.api.exceptions import (
    AgentRateLimited,
    AgentScopeMissing,
    ApiError,
    IdempotencyInProgress,
    RateLimited,
    TemporarilyUnavailable,
)
from kernel.api.exceptions.credentials import Unauthenticated
from kernel.api.operations import Operation

# Short ones for what a document refers to dozens of times.
COMPONENT_NAMES = {
    "Idempotency-Key": "Key",
    "Idempotent-Replayed": "Replayed",
    "RateLimit-Policy": "Policy",
}
SENDS_RETRY_AFTER = (RateLimited, TemporarilyUnavailable, IdempotencyInProgress)
SENDS_CHALLENGE = (Unauthenticated, AgentScopeMissing)


def _text(description: str, example: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string", "examples": [example]}}


HEADERS: dict[str, dict[str, Any]] = {
    "ETag": _text("Send it as `If-None-Match` to get a 304 while nothing has changed.", '"5f0c7ac18a55"'),
    "Idempotent-Replayed": _text(
        "`true`: the response of the first request with this key; `Idempotency-Payload-Mismatch: true`: whose body "
        "was another.",
        "true",
    ),
    "Location": _text("The address of what was created, or of the stream.", "/api/messages/{id}"),
    "RateLimit": _text("Of agents: what remains of the hourly limit, and seconds until more.", '"post";r=29;t=3600'),
    "RateLimit-Policy": _text("Of agents: the hourly limit.", '"post";q=30;w=3600'),
    "Retry-After": {
        "description": "Seconds to wait before the same request.",
        "schema": {"type": "integer", "minimum": 1, "examples": [42]},
    },
    "Set-Cookie": _text(
        "The session of the panel, of each site its own; of a sign-in, what recognises the browser at the next one.",
        "__Host-panel=…; Path=/; Secure; HttpOnly; Partitioned",
    ),
    "WWW-Authenticate": _text("The kind of credential, and what is wrong with it (RFC 6750).", "Bearer"),
    "X-Request-ID": _text("The id of the request in the logs of the service; every response has one.", "5f0c7ac1"),
}


def of_success(operation: Operation) -> dict[str, Any]:
    """The headers of a successful response. Each response also has `X-Request-ID` and `Link`."""
    names = list(operation.response_headers)
    if operation.revalidates:
        names.append("ETag")
    if operation.stores_response:
        names.append("Idempotent-Replayed")
    return references(names + _limits(operation))


def of_other_success(operation: Operation, status: int) -> dict[str, Any]:
    """The headers of a response that is neither the usual one of the operation nor a refusal."""
    return references(["Location"] if status == HTTPStatus.TEMPORARY_REDIRECT else _limits(operation))


def _limits(operation: Operation) -> list[str]:
    return ["RateLimit", "RateLimit-Policy"] if operation.is_charged else []


def of_refusals(errors: Iterable[type[ApiError]]) -> dict[str, Any]:
    errors = tuple(errors)
    names = []
    if any(issubclass(error, SENDS_RETRY_AFTER) for error in errors):
        names.append("Retry-After")
    if any(issubclass(error, SENDS_CHALLENGE) for error in errors):
        names.append("WWW-Authenticate")
    if AgentRateLimited in errors:
        names += ["RateLimit", "RateLimit-Policy"]
    return references([*names, *(name for error in errors for name in error.response_headers)])


def references(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{component_name(name)}"} for name in names}


def component_name(header: str) -> str:
    return COMPONENT_NAMES.get(header, header)


def header_components() -> dict[str, Any]:
    return {component_name(name): header for name, header in HEADERS.items()}
