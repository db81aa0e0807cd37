"""Agent tokens: who the token is, and whether the route admits an agent at all. Default deny lives here.

It runs before the view and its parsers, so a refused call costs one look-up, and no view can forget the refusal: a
route that declares no operation refuses an agent token on every unsafe method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from agents import credentials, refusals, tokens
from config.api import throttles
from config.api.authentication import bearer_of
from config.api.callers import Caller
from config.api.errors import AgentRouteNotAllowed, ApiError, InvalidToken
from config.api.handler import as_api_error, error_response
from config.api.idempotency import Key
from config.api.operations import Operation, operation_of

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class AgentTokenMiddleware:
    """Leaves the agent's Caller on `request.caller`, which CallerAuthentication picks up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        holder: tuple[UUID, str] | None = getattr(request, "token_holder", None)
        if holder is not None and 400 <= response.status_code < 500:
            agent_id, operation = holder
            refusals.note(agent_id=agent_id, operation=operation, response=response)
        return response

    def process_view(self, request: HttpRequest, view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        token = _agent_token(request)
        if token is None:
            return None
        try:
            found = credentials.find(token, Key.of(request))
            declared = operation_of(view, request.method or "")
            # Whose call it is, also where the token does not work any more.
            request.token_holder = (found.account_id, declared.id if declared else "")  # type: ignore[attr-defined]
            request.caller = caller = credentials.caller_of(found)  # type: ignore[attr-defined]
            _admit(declared, caller, request.method or "")
        except (ApiError, DatabaseError) as failure:
            error = as_api_error(failure)
            if error is None:
                raise
            return error_response(error)
        return None


def _agent_token(request: HttpRequest) -> str | None:
    try:
        token = bearer_of(request)
    except InvalidToken:
        # Not for this layer: pages ignore the header, operations refuse it.
        return None
    return token if token is not None and token.startswith(tokens.MARK) else None


def _admit(declared: Operation | None, caller: Caller, method: str) -> None:
    try:
        _admit_to(declared, caller, method)
    except AgentRouteNotAllowed:
        token_id = str(caller.token["id"])
        throttles.check("agent_refused", token_id)
        throttles.note("agent_refused", token_id)
        raise


def _admit_to(declared: Operation | None, caller: Caller, method: str) -> None:
    if declared is not None:
        declared.admit(caller)
    elif method not in SAFE_METHODS:
        raise AgentRouteNotAllowed
