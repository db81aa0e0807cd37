"""Middleware that runs a write exactly once: one transaction around the view, and replays of stored responses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from kernel.api.credentials import Credential
from kernel.api.exception_handler import response_to
from kernel.api.operations import Operation, operation_of
from kernel.writes.idempotency import IdempotentRequest, Replay
from kernel.writes.rate_limits import RateLimitCharge, rate_limit_headers
from kernel.writes.transaction import retried, write_transaction

View = Callable[[], HttpResponse]


class IdempotencyMiddleware:
    """Runs the view of a write in its transaction, or returns a replay.

    In this order: key syntax (400), replay of a response that was found with the token; then, in the transaction: key
    lock (409), replay of a response stored meanwhile, view, stored response. A status of 400 or more rolls back, and a
    dry run does: of its key only the syntax is checked.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        operation = operation_of(view, request.method or "")
        if operation is None or not operation.is_write or not operation.is_atomic:
            return None
        try:
            return Write(request, operation).run(partial(view, request, *args, **kwargs))
        except Exception as failure:  # noqa: BLE001  response_to re-raises unexpected exceptions
            return response_to(failure)


class RolledBack(Exception):
    """Rolls a transaction back because of the status of its response, or because it is a dry run."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status_code)
        self.response = response


class Write:
    """One request that writes."""

    def __init__(self, request: HttpRequest, operation: Operation) -> None:
        self.request, self.operation = request, operation
        self.credential: Credential = request.auth  # type: ignore[attr-defined]
        body = request.parsed_body  # type: ignore[attr-defined]
        self.fields = body if isinstance(body, dict) else {}
        self.charge = self._charge()
        self.is_dry_run = operation.is_dry_run(request)
        user = self.credential.user
        idempotent = None if user is None else IdempotentRequest.of(request, account_id=user.pk, body=body)
        self.idempotent = None if self.is_dry_run else idempotent

    def run(self, view: View) -> HttpResponse:
        replay = self.find_replay()
        if replay is None:
            return self._run(view)
        # A stored response never changes, so no lock is needed.
        self.charge.fetch()
        return self._replayed(replay)

    def find_replay(self) -> Replay | None:
        """The stored response that AgentTokenMiddleware has fetched with the agent token."""
        stored = self.credential.stored_response
        return self.idempotent.replay_of(stored) if self.idempotent is not None and stored is not None else None

    def _run(self, view: View) -> HttpResponse:
        try:
            return self._run_in_transaction(view)
        except RolledBack as rolled_back:
            return rolled_back.response

    @retried
    def _run_in_transaction(self, view: View) -> HttpResponse:
        prefetch = self.operation.prefetch and self.operation.prefetch(self.fields)
        with write_transaction(
            charge=self.charge, idempotent=self.idempotent, prefetch=prefetch, is_dry_run=self.is_dry_run
        ) as write:
            replay = write.open()
            if replay is not None:
                return self._replayed(replay)
            self.request.transaction = write  # type: ignore[attr-defined]
            response = view()
            if response.status_code >= HTTPStatus.BAD_REQUEST:
                raise RolledBack(response)
            if self.is_dry_run:
                # The statements of the write run too, so that what they refuse is refused.
                write.close()
                self.charge.usages = self.charge.available
                raise RolledBack(self._with_limits(response))
            write.store_response(self._with_limits(response))
        return response

    def _replayed(self, replay: Replay) -> HttpResponse:
        if self.operation.authorize_replay is not None:
            self.operation.authorize_replay(self.request, self.fields, replay)
        return self._with_limits(replay.response())

    def _with_limits(self, response: HttpResponse) -> HttpResponse:
        for name, value in rate_limit_headers(self.charge.usages).items():
            response.headers[name] = value
        return response

    def _charge(self) -> RateLimitCharge:
        if not self.credential.is_agent or not self.operation.scopes:
            return RateLimitCharge()
        return RateLimitCharge(self.credential.user.pk, self.operation.required_scopes(self.fields))
