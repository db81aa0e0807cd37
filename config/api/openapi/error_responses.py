"""The error responses of an operation in the OpenAPI document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from config.api.credentials import CredentialKind
from config.api.exceptions import (
    AgentRateLimited,
    AgentRouteNotAllowed,
    AgentScopeMissing,
    ApiError,
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
    UnsupportedMediaType,
    UserMismatch,
)
from config.api.fields import ListQuery
from config.api.operations import Operation


def possible_errors(operation: Operation) -> set[type[ApiError]]:
    """Every refusal of an operation: the declared ones, and those that its declaration implies."""
    errors: set[type[ApiError]] = {*operation.errors, TemporarilyUnavailable, InvalidToken, TokenExpired, TokenRevoked}
    errors |= {InvalidInput} if operation.body or operation.query or operation.is_write else set()
    errors |= {InvalidCursor} if operation.query and issubclass(operation.query, ListQuery) else set()
    errors |= {UserMismatch, NotAuthenticated}
    if not operation.accepts_agents:
        errors.add(AgentRouteNotAllowed)
    if operation.scopes:
        errors |= {AgentScopeMissing, AgentRateLimited}
    if operation.super_admin:
        errors.add(SuperAdminRequired)
    if operation.is_write:
        errors |= {LengthRequired, PayloadTooLarge, UnsupportedMediaType}
    if operation.is_write and CredentialKind.PUBLIC not in operation.callers:
        errors |= {InvalidIdempotencyKey, IdempotencyInProgress, IdempotencyKeyReused}
    return errors | {RateLimited}


def by_status(errors: Iterable[type[ApiError]]) -> dict[int, list[type[ApiError]]]:
    grouped: dict[int, list[type[ApiError]]] = defaultdict(list)
    for error in errors:
        grouped[error.status_code].append(error)
    return {status: sorted(of_status, key=lambda error: error.default_code) for status, of_status in grouped.items()}


def codes_text(errors: list[type[ApiError]]) -> str:
    return ", ".join(f"`{error.default_code}`" for error in errors)


def error_schema(errors: list[type[ApiError]]) -> dict[str, Any]:
    codes = sorted({error.default_code for error in errors} - {AgentScopeMissing.default_code})
    error: dict[str, Any] = {"type": "string", "enum": codes}
    if AgentScopeMissing in errors:
        pattern = {"type": "string", "pattern": f"^{AgentScopeMissing.default_code}:(post|reply|quote|react)$"}
        error = {"anyOf": [error, pattern]} if codes else pattern
    schema: dict[str, Any] = {"type": "object", "required": ["error"], "properties": {"error": error}}
    if any(issubclass(error_class, OverCap) for error_class in errors):
        schema["required"] += ["field", "max"]
        schema["properties"] |= {"field": {"type": "string"}, "max": {"type": "integer"}}
    return schema
