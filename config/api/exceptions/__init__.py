"""The refusals that all apps share, one class each: status, code, texts, extra fields and headers.

The response is `{"error": <code>, "message", ...fields, "requestId", "docs"}`. Apps declare further subclasses in
`<app>/exceptions.py`.
"""

from config.api.exceptions.base import MESSAGE_MAX, PAGES, ApiError
from config.api.exceptions.credentials import (
    AgentCommunityNotAllowed,
    AgentRouteNotAllowed,
    AgentScopeMissing,
    Forbidden,
    InvalidToken,
    NotAuthenticated,
    NotOwner,
    RefusedToken,
    SuperAdminRequired,
    TokenExpired,
    TokenRevoked,
    Unauthenticated,
    UserMismatch,
)
from config.api.exceptions.limits import (
    AgentRateLimited,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    RateLimited,
    TemporarilyUnavailable,
)
from config.api.exceptions.requests import (
    BODY,
    ContentTooLong,
    InvalidCursor,
    InvalidIdempotencyKey,
    InvalidInput,
    InvalidParameter,
    LengthRequired,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    OverCap,
    PayloadTooLarge,
    Problem,
    UnsupportedMediaType,
)

__all__ = [
    "BODY",
    "MESSAGE_MAX",
    "PAGES",
    "AgentCommunityNotAllowed",
    "AgentRateLimited",
    "AgentRouteNotAllowed",
    "AgentScopeMissing",
    "ApiError",
    "ContentTooLong",
    "Forbidden",
    "IdempotencyInProgress",
    "IdempotencyKeyReused",
    "InvalidCursor",
    "InvalidIdempotencyKey",
    "InvalidInput",
    "InvalidParameter",
    "InvalidToken",
    "LengthRequired",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotAuthenticated",
    "NotFound",
    "NotOwner",
    "OverCap",
    "PayloadTooLarge",
    "Problem",
    "RateLimited",
    "RefusedToken",
    "SuperAdminRequired",
    "TemporarilyUnavailable",
    "TokenExpired",
    "TokenRevoked",
    "Unauthenticated",
    "UnsupportedMediaType",
    "UserMismatch",
]
