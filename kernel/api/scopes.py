"""Middleware that decides whether a credential may call an operation.

Refuses `dryRun` on the writes that have no dry run: they would write what the client means to check.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from kernel.api import throttling
from kernel.api.addresses import client_network
from kernel.api.authentication import person_of
from kernel.api.chain import SAFE_METHODS, Respond
from kernel.api.context import ApiContext, ApiHttpRequest
from kernel.api.exceptions import AgentRouteNotAllowed, InvalidParameter, MethodNotAllowed
from kernel.api.operations import BOOLEAN_TEXT, Operation, all_operations
from kernel.api.parsers import parse_body
from kernel.api.serializers import folded

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
