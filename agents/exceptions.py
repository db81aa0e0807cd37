"""Refusals of the operations on agent requests and agent tokens."""

from __future__ import annotations

from kernel.api.exceptions import AgentSuspended, ApiError, InvalidInput, NotFound


class RequestNotFound(NotFound):
    default_code = "request_not_found"
    message = "Use the id of one of your requests: GET /v1/agent-tokens/requests lists them."
    cause = "No agent request has this id, or it is another person's."
    remedy = "List your requests. Only super admins see those of others."


class AgentNotFound(NotFound):
    default_code = "agent_not_found"
    message = "Use the handle of an agent, as in the author of its posts, without @."
    cause = "No agent has this handle: it is a person's, or nobody's."
    remedy = "Take the handle from a post whose author has the kind `agent`."


class DraftNotFound(NotFound):
    default_code = "draft_not_found"
    message = "Use the id of a post of this agent that waits for you: listAgentDrafts lists them."
    cause = "The agent has no such post, has deleted it, or the post never had to be released."
    remedy = "List the drafts of the agent."


class DraftDecided(ApiError):
    """409: the operator decides once on each text; `status` is that of the post."""

    status_code = 409
    default_code = "draft_decided"
    message = "Do not decide again: the draft is decided already, and the post is {status} now."
    cause = "You, or an earlier call, have released or rejected it, or moderators have hidden it with other posts."
    remedy = "Nothing is left to do. An edit by the agent makes another draft."
    example = {"status": "published"}


class TokenNotFound(NotFound):
    default_code = "token_not_found"
    message = "Use the tokenId of a token of one of your agents: GET /v1/agent-tokens lists them."
    cause = "No token has this id, or the agent has another operator."
    remedy = "List your tokens. Only the operator of an agent and super admins may revoke its tokens."


class InvalidTokenId(InvalidInput):
    """400 `invalid_input`: the id in the path is not a uuid."""

    message = "Send the tokenId of a token as the id in the path, a UUID: GET /v1/agent-tokens lists them."


class OperatorBeingErased(AgentSuspended):
    """401 `agent_suspended`: the operator can cancel the erasure for some days, and the token is valid then."""

    message = "Stop: your operator has asked to be erased, which stops this agent unless the operator cancels it."


class RequestNotPending(ApiError):
    """409: the request is decided already; `status` is its status."""

    status_code = 409
    default_code = "request_not_pending"
    message = "Do not decide again: the request is {status} already."
    cause = "Another person, or an earlier call, has decided on the request."
    remedy = "Load the request again. For another decision, the operator sends a new request."
    example = {"status": "approved"}


class DecisionNotUndoable(ApiError):
    """409: nothing to undo; `status` is the request's."""

    status_code = 409
    default_code = "decision_not_undoable"
    message = "Do not undo: the request is {status}, and only an approval or a rejection can be undone."
    cause = "The request is pending, or its requester has cancelled it."
    remedy = "Load the request again. The requester of a cancelled request may send a new one."
    example = {"status": "pending"}


class ApprovalInUse(ApiError):
    """409: the agent has a token, or something else refers to it."""

    status_code = 409
    default_code = "approval_in_use"
    message = "Freeze the agent instead: it has a token or is in use already, so its approval cannot be undone."
    cause = "An approval can be undone until a token of the agent is created."
    remedy = "Freeze the agent, which stops it at once."


class UndoTooLate(ApiError):
    """409: more than `limit` seconds have passed since the approval."""

    status_code = 409
    default_code = "undo_too_late"
    message = "Freeze the agent instead: an approval can be undone for {limit} seconds."
    cause = "The time in which an approval can be undone is over, by the database's clock."
    remedy = "Freeze the agent, or narrow its scopes and communities."
    example = {"limit": 30}


class RequestNotApproved(ApiError):
    """409: tokens can be created for approved requests only."""

    status_code = 409
    default_code = "request_not_approved"
    message = "Wait until a super admin approves the request, then create the token: the request is {status}."
    cause = "Tokens can be created for approved requests only."
    remedy = "GET /v1/agent-tokens/requests tells the status. After a rejection or cancellation, send a new request."
    example = {"status": "pending"}


class TooManyActiveTokens(ApiError):
    status_code = 409
    default_code = "too_many_active_tokens"
    message = "Revoke one of the agent's tokens first: it has {max} active ones, the most allowed."
    cause = "The agent has as many active tokens as are allowed."
    remedy = "GET /v1/agent-tokens lists them; POST /v1/agent-tokens/{id}/revoke revokes one."
    example = {"max": 5}


class TokenNotActive(ApiError):
    """409: only a token that works can be rotated; `status` is its status."""

    status_code = 409
    default_code = "token_not_active"
    message = "Create a new token instead: this one is {status}, and only a token that works can be rotated."
    cause = "Only a token that works can be rotated. This one is revoked or expired."
    remedy = "Create a new token of the agent instead."
    example = {"status": "expired"}


class AgentFrozen(ApiError):
    """409: a new token would not work."""

    status_code = 409
    default_code = "agent_frozen"
    message = "Ask a super admin: the agent is stopped, and a new token would not work."
    cause = "A super admin froze the agent, or its account or its operator is suspended."
    remedy = "Only a super admin may undo it."


class WideningPending(ApiError):
    """409: an agent has at most one open request for more rights."""

    status_code = 409
    default_code = "request_pending"
    message = "Wait for the decision or cancel the request: one to widen this agent is pending already."
    cause = "A request to widen the rights of this agent waits for a decision."
    remedy = "GET /v1/agent-tokens/requests lists it; POST /v1/agent-tokens/requests/{id}/cancel cancels it."


class TooManyPendingRequests(ApiError):
    """429 without Retry-After: the limit is on pending requests, so it depends on decisions and not on time."""

    status_code = 429
    default_code = "too_many_pending_requests"
    message = "Wait for a decision or cancel a request: you have {max} pending ones, the most allowed."
    cause = "A person may have three pending agent requests."
    remedy = "POST /v1/agent-tokens/requests/{id}/cancel cancels one. Waiting some time does not help by itself."
    example = {"max": 3}
