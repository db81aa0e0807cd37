"""Refusals of agent requests and tokens."""

from __future__ import annotations

from config.api.exceptions import ApiError, NotFound


class RequestNotFound(NotFound):
    """404: no such request, or one of somebody else's."""

    code = "request_not_found"


class TokenNotFound(NotFound):
    """404: no such token, or one that the caller may not revoke."""

    code = "token_not_found"


class RequestNotPending(ApiError):
    """409: `status` is what has been decided already."""

    status = 409
    code = "request_not_pending"


class RequestNotApproved(ApiError):
    """409: tokens exist for approved requests only."""

    status = 409
    code = "request_not_approved"


class TooManyActiveTokens(ApiError):
    """409: `max` active tokens exist; revoking one makes room."""

    status = 409
    code = "too_many_active_tokens"


class AgentFrozen(ApiError):
    """409: a super admin has stopped this agent or its operator; a new token of it would not work."""

    status = 409
    code = "agent_frozen"


class TooManyPendingRequests(ApiError):
    """429 without Retry-After: no time frees a place, only a decision or a cancellation does."""

    status = 429
    code = "too_many_pending_requests"
