"""Middleware that decides whether a credential may call an operation.

Refuses `dryRun` on the writes that have no dry run: they would write what the client means to check.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from kernel.api import throttling
from kernel.api.addresses import client_network
from kernel.api.authentication import credential_of
from kernel.api.credentials import Credential
from kernel.api.exception_handler import response_to
from kernel.api.exceptions import AgentRouteNotAllowed, InvalidParameter, MethodNotAllowed
from kernel.api.operations import BOOLEAN_TEXT, Operation, all_operations, operation_of
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


SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class ScopeMiddleware:
    """Refuses what the operation's declaration does not allow, in this order.

    A bad credential (401); one that the operation does not accept (401, 403); soft throttles (429); `dryRun` where
    there is none (400); a body that is not JSON (400, 413, 415); missing scopes and rights for the body (403). A view
    without a declaration refuses agents on unsafe methods (403), a viewset on those that it does not have (405). Sets
    `request.user`, `request.auth` and, if the operation has a body, `request.parsed_body`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        operation = operation_of(view, request.method or "")
        try:
            if operation is None:
                _refuse_agents(request, view)
            else:
                _check(request, operation)
        except Exception as failure:  # noqa: BLE001  response_to re-raises unexpected exceptions
            return response_to(failure)
        return None


def _refuse_agents(request: HttpRequest, view: Any) -> None:
    credential: Credential | None = getattr(request, "auth", None)
    if credential is not None and credential.is_agent and request.method not in SAFE_METHODS:
        throttling.check("agent_refused", str(credential.token_id))
        if not _has_handler(view, request.method or ""):
            raise MethodNotAllowed(_allowed_methods(view))
        raise AgentRouteNotAllowed


def _has_handler(view: Any, method: str) -> bool:
    """Whether the view may answer the method with anything but 405; assumed of all but viewsets."""
    actions = getattr(view, "actions", None)
    name = method.lower()
    return actions is None or (name in view.cls.http_method_names and (name in actions or hasattr(view.cls, name)))


def _allowed_methods(view: Any) -> list[str]:
    """Those of the viewset, as DRF lists them."""
    names = {*view.actions, *(["head"] if "get" in view.actions else []), "options"}
    return [name.upper() for name in view.cls.http_method_names if name in names]


def _check(request: HttpRequest, operation: Operation) -> None:
    credential = credential_of(request, ignore_people=operation.ignores_people)
    if credential.is_agent:
        throttling.check("agent_refused", str(credential.token_id))
    operation.admit(credential)
    request.user, request.auth = credential.user, credential  # type: ignore[attr-defined]
    _throttle(request, operation, credential)
    refuse_unknown_dry_run(request, operation)
    if operation.has_body:
        request.parsed_body = parse_body(request, operation)  # type: ignore[attr-defined]
        _check_body(request.parsed_body, operation, credential)  # type: ignore[attr-defined]
    # OperationPermission requires it.
    request.is_admitted = True  # type: ignore[attr-defined]


def _throttle(request: HttpRequest, operation: Operation, credential: Credential) -> None:
    is_dry_run = operation.is_dry_run(request)
    is_write = operation.is_write and not is_dry_run
    if not is_write:
        throttling.hit_read(request)
    if operation.throttle is not None and operation.is_write:
        throttling.hit(operation.throttle, client_network(request))
    elif operation.throttle is not None:
        throttling.hit_read(request, operation.throttle)
    if is_write and credential.user is not None and not credential.is_agent:
        throttling.hit("person", str(credential.user.pk))
    if is_dry_run and credential.user is not None:
        throttling.hit("dry_run", str(credential.user.pk))


def _check_body(body: Any, operation: Operation, credential: Credential) -> None:
    fields = body if isinstance(body, dict) else {}
    if credential.is_agent:
        credential.require_scopes(operation.required_scopes(fields))
    if operation.authorize is not None:
        operation.authorize(credential, fields)
