"""Middleware that runs a write exactly once: one transaction around the view, and replays of stored responses."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import cast

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from kernel.api.chain import Respond
from kernel.api.context import ApiHttpRequest
from kernel.api.operations import Operation
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

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: ApiHttpRequest) -> HttpResponseBase:
        operation = request.api.operation
        if operation is None or not operation.is_write or not operation.is_atomic:
            return self.get_response(request)
        return Write(request, operation).run(lambda: cast(HttpResponse, self.get_response(request)))


class RolledBack(Exception):
    """Rolls a transaction back because of the status of its response, or because it is a dry run."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status_code)
        self.response = response


class Write:
    """One request that writes."""

    def __init__(self, request: ApiHttpRequest, operation: Operation) -> None:
        self.api, self.operation = request.api, operation
        self.charge = self._charge()
        user = self.api.credential.user
        idempotent = None if user is None else IdempotentRequest.of(self.api, account_id=user.pk)
        self.idempotent = None if self.api.is_dry_run else idempotent

    def run(self, view: View) -> HttpResponse:
        replay = self.find_replay()
        if replay is None:
            return self._run(view)
        # A stored response never changes, so no lock is needed.
        self.charge.fetch()
        return self._replayed(replay)

    def find_replay(self) -> Replay | None:
        """The stored response that AgentTokenMiddleware has fetched with the agent token."""
        stored = self.api.credential.stored_response
        return self.idempotent.replay_of(stored) if self.idempotent is not None and stored is not None else None

    def _run(self, view: View) -> HttpResponse:
        try:
            return self._run_in_transaction(view)
        except RolledBack as rolled_back:
            return rolled_back.response

    @retried
    def _run_in_transaction(self, view: View) -> HttpResponse:
        prefetch = self.operation.prefetch and self.operation.prefetch(self.api.fields)
        with write_transaction(
            charge=self.charge, idempotent=self.idempotent, prefetch=prefetch, is_dry_run=self.api.is_dry_run
        ) as write:
            replay = write.open()
            if replay is not None:
                return self._replayed(replay)
            self.api.transaction = write
            response = view()
            if response.status_code >= HTTPStatus.BAD_REQUEST:
                raise RolledBack(response)
            if self.api.is_dry_run:
                # The statements of the write run too, so that what they refuse is refused.
                write.close()
                self.charge.usages = self.charge.available
                raise RolledBack(self._with_limits(response))
            write.store_response(self._with_limits(response))
        return response

    def _replayed(self, replay: Replay) -> HttpResponse:
        if self.operation.authorize_replay is not None:
            self.operation.authorize_replay(self.api, replay)
        return self._with_limits(replay.response())

    def _with_limits(self, response: HttpResponse) -> HttpResponse:
        for name, value in rate_limit_headers(self.charge.usages).items():
            response.headers[name] = value
        return response

    def _charge(self) -> RateLimitCharge:
        if not self.api.credential.is_agent or not self.operation.scopes:
            return RateLimitCharge()
        return RateLimitCharge(self.api.credential.user.pk, self.operation.required_scopes(self.api.fields))
