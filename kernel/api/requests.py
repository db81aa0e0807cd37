"""The request class of every viewset."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request

from kernel.api.credentials import Credential


class ApiRequest(Request):
    """DRF's request with what the middlewares set: the parsed body and the open transaction of a write."""

    user: Any
    auth: Credential

    def __init__(self, request: HttpRequest, **parts: Any) -> None:
        super().__init__(request, **parts)
        # DRF proxies these through an exception at each access.
        self.method, self.path, self.META = request.method, request.path, request.META

    @property
    def data(self) -> Any:
        """The body that ScopeMiddleware parsed; that of an operation without one is ignored."""
        return getattr(self._request, "parsed_body", {})

    @property
    def transaction(self) -> Any:
        """The `kernel.writes.transaction.WriteTransaction` of a write."""
        return self._request.transaction  # type: ignore[attr-defined]


def contains_nul(request: HttpRequest) -> bool:
    """Whether a parameter of a form has a NUL, which PostgreSQL refuses and only some of Django's fields check."""
    sent = (value for parameters in (request.GET, request.POST) for _, values in parameters.lists() for value in values)
    return any("\x00" in value for value in sent)
