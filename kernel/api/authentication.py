"""Who sends a request, and whether it may call the operation.

AgentTokenMiddleware checks agent tokens. ScopeMiddleware reads the JWT of a person, compares the credential with the
declaration of the operation, parses the body of a write, and then checks the scopes that this body needs. Both set the
credential of the context; DRF gets it as `request.user` (the account) and `request.auth`.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from kernel.api import jwt, throttling
from kernel.api.addresses import client_network
from kernel.api.bodies import content_length, parse_json
from kernel.api.chain import SAFE_METHODS, Respond
from kernel.api.context import ApiContext, ApiHttpRequest
from kernel.api.credentials import ANONYMOUS, Credential
from kernel.api.exceptions import (
    BODY,
    AgentRouteNotAllowed,
    Forbidden,
    InvalidInput,
    InvalidParameter,
    InvalidToken,
    MethodNotAllowed,
    PayloadTooLarge,
    UnsupportedContentEncoding,
    UnsupportedMediaType,
)
from kernel.api.operations import BOOLEAN_TEXT, Operation, all_operations
from kernel.api.requests import JSON_TYPE
from kernel.api.serializers import folded

BEARER_MAX = 4096


def bearer_of(request: HttpRequest) -> str | None:
    """The bearer token of a request, or None without an Authorization header; raises InvalidToken (401)."""
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > BEARER_MAX or not token.isascii():
        raise InvalidToken
    return str(token)


def person_of(request: HttpRequest, operation: Operation) -> Credential:
    """The credential of a person, or ANONYMOUS; raises a 401 or UserMismatch (403)."""
    token = None if operation.ignores_people else bearer_of(request)
    return ANONYMOUS if token is None else jwt.person_credential(token, user_id=request.headers.get("X-User-Id"))


class CredentialAuthentication(BaseAuthentication):
    """(account, credential) of the request; (None, ANONYMOUS) without one."""

    def authenticate(self, request: Request) -> tuple[Any, Credential]:
        credential: Credential = request._request.api.credential  # type: ignore[attr-defined]  # of DRF's stubs
        return credential.user, credential

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class OperationPermission(BasePermission):
    """Refuses requests that ScopeMiddleware has not checked: those to an action without a declaration (403)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        has_action = getattr(view, "action", "") is not None
        # Without an action for the method, DRF responds with 405.
        if has_action and not request._request.api.is_admitted:  # type: ignore[attr-defined]  # of DRF's stubs
            raise Forbidden
        return True


# sendBeacon sends it to other origins without a preflight.
PLAIN_TEXT = "text/plain"
FORM_TYPE = "application/x-www-form-urlencoded"
PARAMETERS_MAX = 100


def parse_body(request: HttpRequest, operation: Operation) -> Any:
    """The JSON value or the form of a body, `{}` for an empty one; raises a 400, 413 or 415."""
    length = content_length(request.META)
    if not length:
        return {}
    if length > operation.body_max:
        raise PayloadTooLarge(field=BODY, max=operation.body_max)
    others = [FORM_TYPE] if operation.is_form else [PLAIN_TEXT] if operation.public_body else []
    media_type = check_media_type(request, JSON_TYPE, *others)
    parse = parse_form if media_type == FORM_TYPE else parse_json
    return parse(request.read(operation.body_max + 1))


def parse_form(raw: bytes) -> dict[str, Any]:
    """The parameters that are not empty; that of a repeated one is a list, which no field accepts."""
    try:
        sent = parse_qsl(raw.decode(), errors="strict", max_num_fields=PARAMETERS_MAX)
    except ValueError:
        raise InvalidInput("Send a form in UTF-8, percent-encoded.", field=BODY) from None
    if any("\x00" in text for pair in sent for text in pair):
        raise InvalidInput("Send no NUL character.", field=BODY)
    form: dict[str, Any] = {}
    for name, value in sent:
        form[name] = [form[name], value] if name in form else value
    return form


def check_media_type(request: HttpRequest, *allowed: str) -> str:
    """The media type of a body that is UTF-8 and not compressed, JSON (RFC 8259) without `allowed`; raises a 415."""
    allowed = allowed or (JSON_TYPE,)
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in {"", "identity"}:
        raise UnsupportedContentEncoding
    content_type = request.META.get("CONTENT_TYPE", "").lower()
    media_type, *parameters = (part.strip() for part in content_type.split(";"))
    if media_type not in allowed:
        raise UnsupportedMediaType(allowed)
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip(' "') not in {"utf-8", "utf8", "us-ascii"}:
            raise UnsupportedMediaType(allowed)
    return str(media_type)


PARAMETER = "dryRun"
FOLDED = folded(PARAMETER)


def refuse_unknown_dry_run(request: HttpRequest, operation: Operation) -> None:
    """Raises InvalidParameter (400) for `dryRun` where a write has none, and for any other spelling or value of it."""
    if not request.META.get("QUERY_STRING") or not (operation.is_write or operation.is_gateway):
        return
    for name in request.GET:
        if folded(name) != FOLDED:
            continue
        if not operation.has_dry_run:
            raise InvalidParameter(f"Send no `{PARAMETER}`: {_checks()} only checks.", field=PARAMETER)
        if name != PARAMETER:
            raise InvalidParameter(f"Spell the parameter `{PARAMETER}`: only this one is a dry run.", field=PARAMETER)
        values = request.GET.getlist(name)
        if len(values) > 1 or values[0].lower() not in BOOLEAN_TEXT:
            raise InvalidParameter(f"Send `{PARAMETER}` once, as true or false.", field=PARAMETER)


@cache
def _checks() -> str:
    """The operations that check a write, such as `checkMessage (POST /api/messages/check)`."""
    return " or ".join(
        f"{operation.id} ({method} /{path})" for path, method, operation in all_operations() if operation.is_check
    )


class ScopeMiddleware:
    """Refuses what the operation's declaration does not allow, in this order.

    A bad credential (401); one that the operation does not accept (401, 403); soft throttles (429); `dryRun` where
    there is none (400); a body that is not JSON (400, 413, 415); missing scopes and rights for the body (403). A method
    without a declaration is refused to agents (403), or is 405 if the viewset does not have it. Sets `credential`,
    `body` and `is_admitted` of the context.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: ApiHttpRequest) -> HttpResponseBase:
        api = request.api
        if api.operation is None:
            _refuse_agents(request)
        else:
            _check(request, api, api.operation)
        return self.get_response(request)


def _refuse_agents(request: ApiHttpRequest) -> None:
    """Refuses an agent on a method that no operation declares; reads are left to the view."""
    if request.api.credential.is_agent and request.method not in SAFE_METHODS:
        throttling.check("agent_refused", str(request.api.credential.token_id))
        view: Any = request.api.match.func
        name = (request.method or "").lower()
        if name in view.cls.http_method_names and (name in view.actions or hasattr(view.cls, name)):
            raise AgentRouteNotAllowed
        raise MethodNotAllowed(_allowed_methods(view))


def _allowed_methods(view: Any) -> list[str]:
    """Those of the viewset, as DRF lists them."""
    names = {*view.actions, *(["head"] if "get" in view.actions else []), "options"}
    return [name.upper() for name in view.cls.http_method_names if name in names]


def _check(request: ApiHttpRequest, api: ApiContext, operation: Operation) -> None:
    # AgentTokenMiddleware has set the credential of an agent.
    if not api.credential.is_agent:
        api.credential = person_of(request, operation)
    else:
        throttling.check("agent_refused", str(api.credential.token_id))
    operation.admit(api.credential)
    _throttle(request, api, operation)
    refuse_unknown_dry_run(request, operation)
    if operation.has_body:
        api.body = parse_body(request, operation)
        if api.credential.is_agent:
            api.credential.require_scopes(operation.required_scopes(api.fields))
        if operation.authorize is not None:
            operation.authorize(api.credential, api.fields)
    api.is_admitted = True


def _throttle(request: HttpRequest, api: ApiContext, operation: Operation) -> None:
    credential = api.credential
    is_write = operation.is_write and not api.is_dry_run
    if not is_write:
        throttling.hit_read(request)
    if operation.throttle is not None and operation.is_write:
        throttling.hit(operation.throttle, client_network(request))
    elif operation.throttle is not None:
        throttling.hit_read(request, operation.throttle)
    if is_write and credential.user is not None and not credential.is_agent:
        throttling.hit("person", str(credential.user.pk))
    if api.is_dry_run and credential.user is not None:
        throttling.hit("dry_run", str(credential.user.pk))
