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


def possible_errors(held: Operation) -> set[type[ApiError]]:
    """Every refusal an operation can give: its own, and those that its declaration implies."""
    found: set[type[ApiError]] = {*held.errors, TemporarilyUnavailable, InvalidToken, TokenExpired, TokenRevoked}
    found |= {InvalidInput} if held.body or held.query or held.is_write else set()
    found |= {InvalidCursor} if held.query and issubclass(held.query, ListQuery) else set()
    found |= {UserMismatch, NotAuthenticated}
    if not held.accepts_agents:
        found.add(AgentRouteNotAllowed)
    if held.scopes:
        found |= {AgentScopeMissing, AgentRateLimited}
    if held.super_admin:
        found.add(SuperAdminRequired)
    if held.is_write:
        found |= {LengthRequired, PayloadTooLarge, UnsupportedMediaType}
    if held.is_write and CredentialKind.PUBLIC not in held.callers:
        found |= {InvalidIdempotencyKey, IdempotencyInProgress, IdempotencyKeyReused}
    return found | {RateLimited}


def by_status(errors: Iterable[type[ApiError]]) -> dict[int, list[type[ApiError]]]:
    grouped: dict[int, list[type[ApiError]]] = defaultdict(list)
    for error in errors:
        grouped[error.status].append(error)
    return {status: sorted(held, key=lambda error: error.code) for status, held in grouped.items()}


def codes_text(errors: list[type[ApiError]]) -> str:
    return ", ".join(f"`{error.code}`" for error in errors)


def error_schema(errors: list[type[ApiError]]) -> dict[str, Any]:
    codes = sorted({error.code for error in errors} - {AgentScopeMissing.code})
    error: dict[str, Any] = {"type": "string", "enum": codes}
    if AgentScopeMissing in errors:
        pattern = {"type": "string", "pattern": f"^{AgentScopeMissing.code}:(post|reply|quote|react)$"}
        error = {"anyOf": [error, pattern]} if codes else pattern
    schema: dict[str, Any] = {"type": "object", "required": ["error"], "properties": {"error": error}}
    if any(issubclass(held, OverCap) for held in errors):
        schema["required"] += ["field", "max"]
        schema["properties"] |= {"field": {"type": "string"}, "max": {"type": "integer"}}
    return schema
