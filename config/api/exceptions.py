"""The refusals that all apps share, one class each: status, code, extra fields and headers.

The response is `{"error": <code>, ...fields}`. Apps declare further subclasses in `<app>/exceptions.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import APIException


class ApiError(APIException):
    """A refusal. `fields` are added to the body, `headers` to the response."""

    status_code = 500
    default_code = "internal_error"

    def __init__(self, **fields: Any) -> None:
        super().__init__(self.default_code, self.default_code)
        self.fields = fields
        self.headers: dict[str, str] = {}

    def body(self) -> dict[str, Any]:
        return {"error": self.default_code, **self.fields}


class InvalidInput(ApiError):
    """400: `field` is a JSON path into the body or a query parameter; `details` describes the error."""

    status_code = 400
    default_code = "invalid_input"


class InvalidIdempotencyKey(ApiError):
    status_code = 400
    default_code = "invalid_idempotency_key"


class InvalidCursor(ApiError):
    status_code = 400
    default_code = "invalid_cursor"


class Unauthenticated(ApiError):
    """The base class of every 401; RFC 6750 requires the header."""

    status_code = 401

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.headers["WWW-Authenticate"] = "Bearer"


class NotAuthenticated(Unauthenticated):
    default_code = "not_authenticated"


class InvalidToken(Unauthenticated):
    default_code = "invalid_token"


class TokenExpired(Unauthenticated):
    default_code = "token_expired"


class TokenRevoked(Unauthenticated):
    default_code = "token_revoked"


class Forbidden(ApiError):
    status_code = 403
    default_code = "forbidden"


class UserMismatch(Forbidden):
    default_code = "user_mismatch"


class SuperAdminRequired(Forbidden):
    default_code = "super_admin_required"


class AgentRouteNotAllowed(Forbidden):
    default_code = "agent_route_not_allowed"


class AgentCommunityNotAllowed(Forbidden):
    default_code = "agent_community_not_allowed"


class AgentScopeMissing(Forbidden):
    """403 `agent_scope_missing:<scope>`: the code names the scope."""

    default_code = "agent_scope_missing"

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def body(self) -> dict[str, Any]:
        return {"error": f"{self.default_code}:{self.scope}"}


class NotFound(ApiError):
    status_code = 404
    default_code = "not_found"


class MethodNotAllowed(ApiError):
    status_code = 405
    default_code = "method_not_allowed"

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        super().__init__()
        self.headers["Allow"] = ", ".join(allowed)


class NotAcceptable(ApiError):
    """406: only the OpenAPI document has more than one format."""

    status_code = 406
    default_code = "not_acceptable"


class IdempotencyInProgress(ApiError):
    """409: another request with the same key is still running."""

    status_code = 409
    default_code = "idempotency_in_progress"

    def __init__(self) -> None:
        super().__init__()
        self.headers["Retry-After"] = "1"


class LengthRequired(ApiError):
    status_code = 411
    default_code = "length_required"


class OverCap(ApiError):
    """413 LimitError: `field` exceeds the cap `max`."""

    status_code = 413

    def __init__(self, field: str, max: int) -> None:
        super().__init__(field=field, max=max)


class ContentTooLong(OverCap):
    default_code = "content_too_long"


class PayloadTooLarge(OverCap):
    default_code = "payload_too_large"


class UnsupportedMediaType(ApiError):
    status_code = 415
    default_code = "unsupported_media_type"


class IdempotencyKeyReused(ApiError):
    status_code = 422
    default_code = "idempotency_key_reused"


class RateLimited(ApiError):
    """429 of a soft throttle. `retry_after` in seconds."""

    status_code = 429
    default_code = "rate_limited"

    def __init__(self, retry_after: int) -> None:
        super().__init__()
        self.headers["Retry-After"] = str(retry_after)


class AgentRateLimited(RateLimited):
    """429 of an hourly limit; after `retry_after` seconds a write is possible again."""

    default_code = "agent_rate_limited"


class TemporarilyUnavailable(ApiError):
    """503: PostgreSQL is unavailable."""

    status_code = 503
    default_code = "temporarily_unavailable"

    def __init__(self) -> None:
        super().__init__()
        self.headers["Retry-After"] = "2"
