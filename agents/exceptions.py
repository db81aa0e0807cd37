"""Errors of the operations on agent requests and agent tokens."""

from __future__ import annotations

from config.api.exceptions import ApiError, NotFound


class RequestNotFound(NotFound):
    """404: no such request, or a request of another person."""

    default_code = "request_not_found"


class TokenNotFound(NotFound):
    """404: no such token, or one that the caller may not revoke."""

    default_code = "token_not_found"


class RequestNotPending(ApiError):
    """409: the request is decided already; `status` is its status."""

    status_code = 409
    default_code = "request_not_pending"


class RequestNotApproved(ApiError):
    """409: tokens can be created for approved requests only."""

    status_code = 409
    default_code = "request_not_approved"


class TooManyActiveTokens(ApiError):
    """409: the agent has `max` active tokens; revoke one first."""

    status_code = 409
    default_code = "too_many_active_tokens"


class AgentFrozen(ApiError):
    """409: the agent is frozen, or its account or its operator is inactive; a new token would not work."""

    status_code = 409
    default_code = "agent_frozen"


class TooManyPendingRequests(ApiError):
    """429 without Retry-After: the limit is on pending requests, so it depends on decisions and not on time."""

    status_code = 429
    default_code = "too_many_pending_requests"
