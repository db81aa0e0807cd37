"""The refusals that all apps share, one class each: status, code, extra fields and headers.

The response is `{"error": <code>, ...fields}`. Apps declare further subclasses in `<app>/exceptions.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar


class ApiError(Exception):
    """A refusal. `fields` are added to the body, `headers` to the response."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"

    def __init__(self, **fields: Any) -> None:
        super().__init__(self.code)
        self.fields = fields
        self.headers: dict[str, str] = {}

    def body(self) -> dict[str, Any]:
        return {"error": self.code, **self.fields}


class InvalidInput(ApiError):
    """400: `field` is a JSON path into the body or a query parameter; `details` describes the error."""

    status = 400
    code = "invalid_input"


class InvalidIdempotencyKey(ApiError):
    status = 400
    code = "invalid_idempotency_key"


class InvalidCursor(ApiError):
    status = 400
    code = "invalid_cursor"


class Unauthenticated(ApiError):
    """The base class of every 401; RFC 6750 requires the header."""

    status = 401

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.headers["WWW-Authenticate"] = "Bearer"


class NotAuthenticated(Unauthenticated):
    code = "not_authenticated"


class InvalidToken(Unauthenticated):
    code = "invalid_token"


class TokenExpired(Unauthenticated):
    code = "token_expired"


class TokenRevoked(Unauthenticated):
    code = "token_revoked"


class Forbidden(ApiError):
    status = 403
    code = "forbidden"


class UserMismatch(Forbidden):
    code = "user_mismatch"


class SuperAdminRequired(Forbidden):
    code = "super_admin_required"


class AgentRouteNotAllowed(Forbidden):
    code = "agent_route_not_allowed"


class AgentCommunityNotAllowed(Forbidden):
    code = "agent_community_not_allowed"


class AgentScopeMissing(Forbidden):
    """403 `agent_scope_missing:<scope>`: the code names the scope."""

    code = "agent_scope_missing"

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def body(self) -> dict[str, Any]:
        return {"error": f"{self.code}:{self.scope}"}


class NotFound(ApiError):
    status = 404
    code = "not_found"


class MethodNotAllowed(ApiError):
    status = 405
    code = "method_not_allowed"

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        super().__init__()
        self.headers["Allow"] = ", ".join(allowed)


class NotAcceptable(ApiError):
    """406: only the OpenAPI document has more than one format."""

    status = 406
    code = "not_acceptable"


class IdempotencyInProgress(ApiError):
    """409: another request with the same key is still running."""

    status = 409
    code = "idempotency_in_progress"

    def __init__(self) -> None:
        super().__init__()
        self.headers["Retry-After"] = "1"


class LengthRequired(ApiError):
    status = 411
    code = "length_required"


class OverCap(ApiError):
    """413 LimitError: `field` exceeds the cap `max`."""

    status = 413

    def __init__(self, field: str, max: int) -> None:
        super().__init__(field=field, max=max)


class ContentTooLong(OverCap):
    code = "content_too_long"


class PayloadTooLarge(OverCap):
    code = "payload_too_large"


class UnsupportedMediaType(ApiError):
    status = 415
    code = "unsupported_media_type"


class IdempotencyKeyReused(ApiError):
    status = 422
    code = "idempotency_key_reused"


class RateLimited(ApiError):
    """429 of a soft throttle. `retry_after` in seconds."""

    status = 429
    code = "rate_limited"

    def __init__(self, retry_after: int) -> None:
        super().__init__()
        self.headers["Retry-After"] = str(retry_after)


class AgentRateLimited(RateLimited):
    """429 of an hourly limit; after `retry_after` seconds a write is possible again."""

    code = "agent_rate_limited"


class TemporarilyUnavailable(ApiError):
    """503: PostgreSQL is unavailable."""

    status = 503
    code = "temporarily_unavailable"

    def __init__(self) -> None:
        super().__init__()
        self.headers["Retry-After"] = "2"
