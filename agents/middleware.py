"""Middlewares that check agent tokens and count the refused calls of agents."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NoReturn

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from agents import authentication, denied_calls, tokens
from kernel.api import throttling
from kernel.api.authentication import bearer_of
from kernel.api.chain import SAFE_METHODS, Respond
from kernel.api.context import ApiHttpRequest
from kernel.api.credentials import Credential
from kernel.api.exception_handler import error_response, response_to
from kernel.api.exceptions import AgentRouteNotAllowed, ApiError, InvalidToken
from kernel.writes.idempotency import IdempotencyKey


class AgentTokenMiddleware:
    """Sets the credential of the context to the agent's; refuses an agent token that is not valid (401).

    It runs before the body is parsed, so a refused call costs one query. ScopeMiddleware checks the credentials of
    people. A refusal of the middlewares after it becomes its response here.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: ApiHttpRequest) -> HttpResponseBase:
        try:
            _authenticate(request)
            response = self.get_response(request)
        except Exception as failure:  # noqa: BLE001  response_to re-raises anything but API errors
            response = response_to(failure)
        if 400 <= response.status_code < 500:
            _count_refusal(request, response)
        return response


def _authenticate(request: ApiHttpRequest) -> None:
    token, api = _agent_token(request), request.api
    if token is not None:
        api.key = IdempotencyKey.of(request)
        found = authentication.find(token, api.key)
        # Set for revoked and expired tokens too, so that their calls are counted.
        api.token_holder = found.account_id
        api.credential = authentication.agent_credential(found)


def _count_refusal(request: ApiHttpRequest, response: HttpResponseBase) -> None:
    api = request.api
    if api.token_holder is None:
        return
    # A 405 or 404 of what no operation declares is no refusal of the agent.
    if api.credential.is_agent and (api.operation or response.status_code == HTTPStatus.FORBIDDEN):
        throttling.note("agent_refused", str(api.credential.token_id))
    operation = api.operation.id if api.operation else ""
    denied_calls.note(agent_id=api.token_holder, operation=operation, response=response)


class PageTokenMiddleware:
    """Refuses agents on the pages: an agent token that is not valid (401), any on an unsafe method (403)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        token = _agent_token(request)
        if token is None:
            return None
        try:
            found = authentication.find(token, None)
        except ApiError as refusal:
            return error_response(refusal)
        try:
            credential = authentication.agent_credential(found)
            if request.method not in SAFE_METHODS:
                _refuse(credential)
        except ApiError as refusal:
            response = error_response(refusal)
            denied_calls.note(agent_id=found.account_id, operation="", response=response)
            return response
        return None


def _refuse(credential: Credential) -> NoReturn:
    throttling.check("agent_refused", str(credential.token_id))
    throttling.note("agent_refused", str(credential.token_id))
    raise AgentRouteNotAllowed


def _agent_token(request: HttpRequest) -> str | None:
    try:
        token = bearer_of(request)
    except InvalidToken:
        # A malformed header: pages ignore it, operations refuse it.
        return None
    return token if token is not None and token.startswith(tokens.TOKEN_PREFIX) else None
