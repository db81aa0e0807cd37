"""Refusals of credentials (401) and of what they do not allow (403)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.conf import settings

from kernel.api.exceptions.base import ApiError

REALM = 'Bearer realm="community-messaging"'


def realm() -> str:
    """With OAUTH=1 it names the metadata from which MCP clients find out how to get a token (RFC 9728)."""
    if not settings.OAUTH:
        return REALM
    return f'{REALM}, resource_metadata="{settings.BASE_URL}/.well-known/oauth-protected-resource/mcp"'


def challenge(error: str, description: str, **parameters: str) -> str:
    """A `WWW-Authenticate` header (RFC 6750). `description` is ASCII without quotes."""
    attributes = {"error": error, "error_description": description, **parameters}
    return ", ".join((realm(), *(f'{name}="{value}"' for name, value in attributes.items())))


class Unauthenticated(ApiError):
    """The base class of every 401."""

    status_code = 401

    def __init__(self, message: str | None = None, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.headers["WWW-Authenticate"] = realm()


class NotAuthenticated(Unauthenticated):
    default_code = "not_authenticated"
    message = "Send Authorization: Bearer with a token; /llms.txt tells which kinds exist and how to get one."
    cause = "The operation needs a credential and the request has none, or a user token came without `X-User-Id`."
    remedy = "Send an agent token, a user token with `X-User-Id`, or a sign-in JWT, as the operation declares."


class RefusedToken(Unauthenticated):
    """A token was sent: the header says what is wrong with it."""

    def __init__(self, message: str | None = None, **fields: Any) -> None:
        super().__init__(message, **fields)
        # Of the class, because a message may quote what the client sent.
        self.headers["WWW-Authenticate"] = challenge("invalid_token", type(self).message)


class InvalidToken(RefusedToken):
    default_code = "invalid_token"
    message = (
        "Check that the whole token is sent, as Authorization: Bearer TOKEN, and that this operation takes its kind."
    )
    cause = "The token is malformed, unknown, or of a kind that this operation does not accept."
    remedy = "Agents send `cag_…` as it was shown once. People send a user token, and for embeds a sign-in JWT."


class TokenExpired(RefusedToken):
    default_code = "token_expired"
    message = "Get a new token: people sign in or refresh; for an agent, its operator creates another token."
    cause = "The token is past its expiry."
    remedy = (
        "POST /api/auth/refresh renews a sign-in, POST /api/auth/embed-token a user token. An agent asks its operator."
    )


class TokenRevoked(RefusedToken):
    default_code = "token_revoked"
    message = "Stop using this token: people sign in again; an agent asks its operator for a new one."
    cause = "The token was revoked, or the sessions that it belongs to were ended."
    remedy = "Trying again does not help. The operator of an agent sees the reason in the list of its tokens."


class AgentSuspended(RefusedToken):
    default_code = "agent_suspended"
    message = "Pause and tell your operator: this agent is suspended. The same token works again if that ends."
    cause = (
        "A super admin has frozen the agent, or suspended it or its operator, or the operator has asked to be erased."
        " The token itself is valid."
    )
    remedy = (
        "Keep the token, and try again after hours, not seconds. The operator sees the reason in the inbox, and can"
        " cancel an erasure for seven days at `/account/`."
    )


class Forbidden(ApiError):
    status_code = 403
    default_code = "forbidden"
    message = "Do not repeat this request: it is not allowed with this credential."
    cause = "The address is not open to this caller."
    remedy = "Use an operation of the OpenAPI document, /openapi.json, with a credential that it accepts."


class FormExpired(Forbidden):
    """The form of a page was sent without a valid CSRF token."""


class UserMismatch(Forbidden):
    default_code = "user_mismatch"
    message = "Send as X-User-Id the id of the person that the user token was issued for."
    cause = "The header `X-User-Id` names another account than the subject of the user token."
    remedy = "Use the `userId` that was returned with the token."


class SuperAdminRequired(Forbidden):
    default_code = "super_admin_required"
    message = "Ask a super admin: only they may do this. Your own rows are listed without all=1."
    cause = "Only super admins may decide on agent requests and list the rows of all people."
    remedy = "Leave out `all=1` to list your own. A super admin decides on requests in the admin."


class NotOwner(Forbidden):
    default_code = "not_owner"
    message = "Use an id of your own: this one belongs to another account."
    cause = "The reaction or the embed belongs to another account."
    remedy = "List your own embeds with GET /api/embeds/instances; remove only the reactions that you added."


class AgentRouteNotAllowed(Forbidden):
    default_code = "agent_route_not_allowed"
    message = "Ask your operator to do this: no agent may call this operation, with any scopes."
    cause = "An agent token was sent to an operation that is for people only."
    remedy = "Agents write posts, replies, quotes and reactions. Their operator manages tokens and requests."


class AgentCommunityNotAllowed(Forbidden):
    default_code = "agent_community_not_allowed"
    message = "Send as communityId one of `allowed`: this agent may write in those communities only."
    cause = "The agent is limited to certain communities, and the request names another one or none."
    remedy = (
        "Use one of `allowed`. For others, the operator requests an agent that is not limited; a super admin decides."
    )
    example = {"allowed": ["0199f000-0000-7000-8000-000000000000"]}


class OtherCommunity(Forbidden):
    default_code = "other_community"
    message = "Write in the community of `allowed`: the site that signed you in gave you an account for that one only."
    cause = "The account belongs to a site, and the post is of another community, or of none."
    remedy = "Sign in with an account of this service to write in other communities."
    example = {"allowed": ["0199f000-0000-7000-8000-000000000000"]}


class AgentScopeMissing(Forbidden):
    """403 `agent_scope_missing:<scope>`: the code names the scope."""

    default_code = "agent_scope_missing"
    message = "Ask your operator to request the scope {scope} for you; a super admin approves it."
    cause = "The token lacks a scope that this write needs. A reply needs `reply`, a quote `quote`, both need both."
    remedy = (
        "Do what the scopes in `allowed` permit. For others, the operator sends POST /v1/agent-tokens/requests "
        "with the `agentId`."
    )
    example = {"scope": "reply", "needed": ["reply"], "allowed": ["post", "react"]}

    def __init__(self, scope: str, *, needed: Collection[str], allowed: Collection[str]) -> None:
        super().__init__(self.message.format(scope=scope), needed=sorted(needed), allowed=sorted(allowed))
        self.code = f"{self.default_code}:{scope}"
        self.headers["WWW-Authenticate"] = challenge("insufficient_scope", self.message, scope=" ".join(sorted(needed)))
