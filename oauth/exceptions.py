"""Refusals with the codes of RFC 6749 and RFC 8628, which have `error_description` beside the fields of all."""

from __future__ import annotations

from typing import Any

from kernel.api.exceptions import ApiError, InvalidInput


def described(error: ApiError) -> dict[str, Any]:
    """The field in which OAuth clients look for a message.

    RFC 6749 allows neither quotes nor backslashes nor characters beyond ASCII in it.
    """
    text = error.message.replace("\\", "/").replace('"', "'").replace("…", "...")
    return {"error_description": text.encode("ascii", "replace").decode()}


class OAuthError(ApiError):
    def body(self) -> dict[str, Any]:
        return super().body() | described(self)


class InvalidOAuthRequest(InvalidInput):
    default_code = "invalid_request"
    message = "Correct the parameters as the page of this code describes, and send them again."
    cause = "A parameter of a request to `/oauth/` is missing, repeated or has a value that is not accepted."
    remedy = "Read `details`, correct the parameters and send them again as a form."
    example = {"message": "Send `handle`: an agent needs it.", "field": "handle"}

    def body(self) -> dict[str, Any]:
        return super().body() | described(self)


class InvalidOAuthScope(OAuthError):
    status_code = 400
    default_code = "invalid_scope"
    message = "Send as scope one or more of: post, reply, quote, react; or account alone."
    cause = "The parameter `scope` names what this service does not have, or `account` beside the rights of an agent."
    remedy = "Send the scopes of an agent with blanks between them, or `account` to sign a person in."


class InvalidTarget(OAuthError):
    status_code = 400
    default_code = "invalid_target"
    message = "Send as resource the address of this MCP server, as its metadata names it."
    cause = "The parameter `resource` names another service."
    remedy = "Read `resource` in /.well-known/oauth-protected-resource/mcp."


class UnsupportedGrantType(OAuthError):
    status_code = 400
    default_code = "unsupported_grant_type"
    message = "Send as grant_type one of `allowed`."
    cause = "`/oauth/token` has no grant of the type that was sent."
    remedy = "Use a grant type in `allowed`."
    example = {"allowed": ["urn:ietf:params:oauth:grant-type:device_code"]}


class InvalidGrant(OAuthError):
    status_code = 400
    default_code = "invalid_grant"
    message = "This code is unknown, or its token was fetched before: ask for a new code."
    cause = "The code was never issued, was deleted long after it ended, or its token was fetched and used already."
    remedy = "Start again: ask for a new code, and have it confirmed."


class AuthorizationPending(OAuthError):
    status_code = 400
    default_code = "authorization_pending"
    message = "Ask again after `interval` seconds."
    cause = "The person has not confirmed the code yet, or a super admin has not decided on the agent yet."
    remedy = "Poll: `waiting_for` says who is to act, `interval` after how many seconds the next request makes sense."
    example = {"waiting_for": "super_admin", "interval": 60}


class SlowDown(OAuthError):
    status_code = 400
    default_code = "slow_down"
    message = "Wait 5 seconds longer than until now before each further request."
    cause = "The requests for one device code came within less than 5 seconds."
    remedy = "Add 5 seconds to the interval, for this request and all that follow."


class AccessDenied(OAuthError):
    status_code = 400
    default_code = "access_denied"
    message = "The person refused, or the agent cannot have a token: do not ask again without talking to the person."
    cause = "The person or a super admin refused, the request was withdrawn, or the agent was stopped or deleted."
    remedy = "Talk to the person who operates the agent. With their consent, start again with a new code."


class ExpiredToken(OAuthError):
    status_code = 400
    default_code = "expired_token"
    message = "The code has expired: ask for a new one and have it confirmed."
    cause = "Codes for agents end after seven days, those that sign a person in after fifteen minutes."
    remedy = "Start again. If the agent exists by now, its operator's confirmation is enough."


class DeviceCodeNotFound(ApiError):
    status_code = 404
    default_code = "device_code_not_found"
    message = "No program waits under this code. Compare it with the program's; it may have expired."
    cause = "The code was mistyped, has expired, or another person has confirmed it."
    remedy = "Compare the code with what the program shows, or let the program ask for a new one."

    def __init__(self) -> None:
        super().__init__(field="user_code")


class DeviceCodeDecided(ApiError):
    status_code = 409
    default_code = "device_code_decided"
    message = "This code was confirmed or refused already."
    cause = "Each code can be confirmed or refused once."
    remedy = "Let the program ask for a new code."


class ProgramNotFound(ApiError):
    status_code = 404
    default_code = "program_not_found"
    message = "Use the id of a program that you let in: GET /v1/me/programs lists them."
    cause = "You let in no program with this id, or you have revoked it."
    remedy = "Nothing is left to do, if the program should have no token."
