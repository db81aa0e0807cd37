"""The base of every ViewSet. Actions declare themselves with `@operation` and translate; services decide.

Authentication, scopes, idempotency and the transaction of a write are middleware: see `config.settings.MIDDLEWARE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from http import HTTPStatus
from threading import get_ident
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseNotModified
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from config.api.credentials import Credential
from config.api.exceptions import ApiError, NotFound
from config.api.ids import parse_id
from config.api.operations import Operation, operation_of_action
from config.api.pagination import CursorPage
from config.api.responses import JSON_TYPE, Response
from config.cache.loaders import Loader
from config.cache.rendering import etag_of, matches_etag

REVALIDATE = "public, no-cache"


def router() -> SimpleRouter:
    return SimpleRouter(trailing_slash=False, use_regex_path=False)


class ApiRequest(Request):
    """DRF's request, with what the middlewares left: the parsed body and the open transaction of a write."""

    user: Any
    auth: Credential

    def __init__(self, request: HttpRequest, **parts: Any) -> None:
        super().__init__(request, **parts)
        # DRF proxies these through an exception at each access.
        self.method, self.path, self.META = request.method, request.path, request.META

    @property
    def data(self) -> Any:
        return self._request.parsed_body  # type: ignore[attr-defined]

    @property
    def transaction(self) -> Any:
        """The `config.writes.transaction.WriteTransaction` of a write."""
        return self._request.transaction  # type: ignore[attr-defined]


class ApiViewSet(GenericViewSet[Any]):
    http_method_names = ["get", "post", "put", "delete", "head"]
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    request: ApiRequest
    # The filters of a list, which its cursors are bound to (`config.api.filters`).
    filters: Mapping[str, Any] = MappingProxyType({})

    @property
    def operation(self) -> Operation | None:
        return operation_of_action(type(self), self.action)

    @property
    def default_response_headers(self) -> dict[str, str]:
        """None: DRF would add `Allow` to every response."""
        return {}

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[JSONRenderer, str]:
        """Nothing to negotiate: every response is JSON, whatever `Accept` says."""
        return JSON_RENDERER, JSON_TYPE

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> ApiRequest:
        """With a request class of our own, which DRF has no setting for."""
        self.action = self.action_map.get((request.method or "").lower())  # type: ignore[assignment]  # None: 405
        return ApiRequest(request, authenticators=self.get_authenticators())

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """A public read carries a strong ETag, and is 304 to a client that has it; caches must revalidate."""
        if self.operation is None or not self.operation.is_public_read or response.status_code != HTTPStatus.OK:
            return response
        response.headers["ETag"] = etag = etag_of(response.content)
        response.headers.setdefault("Cache-Control", REVALIDATE)
        # No other condition counts, as in the response cache: a read has nothing to lose by being answered.
        if matches_etag(request.META.get("HTTP_IF_NONE_MATCH", ""), etag):
            return HttpResponseNotModified(headers=response.headers)
        return response

    def body(self) -> dict[str, Any]:
        """The validated body, in snake_case; raises a 400 or 413."""
        return _validated(self.operation and self.operation.body, self.request.data)

    def query(self) -> dict[str, Any]:
        """The validated query string, in snake_case; raises a 400."""
        return _validated(self.operation and self.operation.query, self.request.query_params)

    def represent(self, instance: Any) -> Any:
        """The answer's form of an instance, by the viewset's serializer."""
        return render(self.get_serializer_class(), instance)

    def path_id(self, missing: type[ApiError] = NotFound, name: str = "id") -> UUID:
        return parse_id(self.kwargs[name], missing=missing)

    def page(self, name: str, query: Mapping[str, Any], **bound: Any) -> CursorPage:
        """The stretch of the list `name` that a validated ListQuery asks for."""
        return CursorPage.of(name, query, **bound)

    def read(self, load: Callable[[], Any], *tags: str, headers: Mapping[str, str] | None = None) -> Response:
        """Respond with the data that `load` returns, and declare the cache tags that it depends on.

        `config.cache` caches the response until a tag is invalidated, and then refreshes it by `load`.
        """
        loader = Loader(tags, load)
        snapshot = loader.snapshot()
        response = Response(load(), headers=headers)
        if "HTTP_AUTHORIZATION" not in self.request.META:
            response.cache_snapshot, response.loader = snapshot, loader
        return response


JSON_RENDERER = JSONRenderer()


def render(serializer: Any, instance: Any) -> Any:
    """The answer's form of an instance."""
    return _instance_of(serializer, get_ident()).to_representation(instance)


def _validated(serializer: Any, data: Any) -> dict[str, Any]:
    return dict(_instance_of(serializer, get_ident()).run_validation(data))


@cache
def _instance_of(serializer: Any, _thread: int) -> BaseSerializer[Any]:
    """One for each thread: making one copies all its fields, and a list's field knows the index at work."""
    instance: BaseSerializer[Any] = serializer()
    return instance
