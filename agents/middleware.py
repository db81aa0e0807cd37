"""Middleware that checks agent tokens and counts the refused calls of agents."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from agents import authentication, denied_calls, tokens
from kernel.api import throttling
from kernel.api.authentication import bearer_of
from kernel.api.credentials import Credential
from kernel.api.exception_handler import response_to
from kernel.api.exceptions import InvalidToken
from kernel.api.operations import operation_of
from kernel.writes.idempotency import IdempotencyKey


class AgentTokenMiddleware:
    """Sets `request.auth` to the agent's credential; responds 401 to an agent token that is not valid.

    It runs before the view and its parsers, so a refused call costs one query. ScopeMiddleware checks the credentials
    of people.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if 400 <= response.status_code < 500:
            _count_refusal(request, response)
        return response

    def process_view(self, request: HttpRequest, view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        token = _agent_token(request)
        if token is None:
            return None
        try:
            found = authentication.find(token, IdempotencyKey.of(request))
            declared = operation_of(view, request.method or "")
            # Set for revoked and expired tokens too, so that their calls are counted.
            request.token_holder = (found.account_id, declared.id if declared else "")  # type: ignore[attr-defined]
            request.auth = authentication.agent_credential(found)  # type: ignore[attr-defined]
        except Exception as failure:  # noqa: BLE001  response_to re-raises anything but API errors
            return response_to(failure)
        return None


def _agent_token(request: HttpRequest) -> str | None:
    try:
        token = bearer_of(request)
    except InvalidToken:
        # A malformed header: pages ignore it, operations refuse it.
        return None
    return token if token is not None and token.startswith(tokens.TOKEN_PREFIX) else None


def _count_refusal(request: HttpRequest, response: HttpResponseBase) -> None:
    holder: tuple[UUID, str] | None = getattr(request, "token_holder", None)
    if holder is None:
        return
    agent_id, operation = holder
    credential: Credential | None = getattr(request, "auth", None)
    # The 404 of a page is no refusal; a 403 without an operation is that of an undeclared view.
    if credential is not None and (operation or response.status_code == HTTPStatus.FORBIDDEN):
        throttling.note("agent_refused", str(credential.token_id))
    denied_calls.note(agent_id=agent_id, operation=operation, response=response)
