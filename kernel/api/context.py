"""What the middlewares of the API know of a request: its context, `request.api`.

`ApiMiddleware` resolves the path once and makes the context; the middlewares after it fill it in, in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from rest_framework.request import Request

from kernel.api.credentials import ANONYMOUS, Credential
from kernel.api.exceptions import ApiError
from kernel.api.ids import parse_id
from kernel.api.operations import Operation, operation_of

if TYPE_CHECKING:
    from kernel.writes.idempotency import IdempotencyKey
    from kernel.writes.transaction import WriteTransaction


class ApiContext:
    """One request of the API.

    `operation` is None for a method that the viewset does not declare. `credential`, `body` and `is_admitted` are set
    by ScopeMiddleware, `transaction` by IdempotencyMiddleware, for a write.
    """

    def __init__(
        self, request: HttpRequest, match: ResolverMatch, respond: Callable[[HttpRequest], HttpResponseBase]
    ) -> None:
        self.request, self.match = request, match
        # The response to a request that this one sends to another operation.
        self.respond = respond
        self.operation: Operation | None = operation_of(match.func, request.method or "")
        self.credential: Credential = ANONYMOUS
        # The agent whose token was sent, also a revoked or expired one.
        self.token_holder: UUID | None = None
        # The Idempotency-Key, which the statement that reads the agent token looks up.
        self.key: IdempotencyKey | None = None
        # The parsed JSON; that of an operation without a body is ignored.
        self.body: Any = {}
        # Whether ScopeMiddleware has checked the request.
        self.is_admitted = False
        self.transaction: WriteTransaction | None = None

    @cached_property
    def is_dry_run(self) -> bool:
        return self.operation is not None and self.operation.is_dry_run(self.request)

    def path_id(self, missing: type[ApiError], name: str = "id") -> UUID:
        """The id in a segment of the path; raises `missing` for any other text."""
        return parse_id(self.match.kwargs[name], missing=missing)

    @property
    def fields(self) -> dict[str, Any]:
        """The body, if it is an object."""
        return self.body if isinstance(self.body, dict) else {}


class ApiHttpRequest(WSGIRequest):
    """Django's request in the middlewares of the API."""

    api: ApiContext


class ApiRequest(Request):
    """DRF's request, with the context that the middlewares filled in."""

    user: Any
    auth: Credential

    def __init__(self, request: HttpRequest, **parts: Any) -> None:
        super().__init__(request, **parts)
        # DRF proxies these through an exception at each access.
        self.method, self.path, self.META = request.method, request.path, request.META
        # drf-spectacular describes views with requests that no middleware has seen.
        self.api: ApiContext = getattr(request, "api", None)  # type: ignore[assignment]

    @property
    def data(self) -> Any:
        """The parsed body."""
        return self.api.body

    @property
    def transaction(self) -> WriteTransaction:
        """The open transaction of a write."""
        if self.api.transaction is None:
            raise TypeError(f"{self.path} writes in no transaction.")
        return self.api.transaction
