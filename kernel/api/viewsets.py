"""The base class of every ViewSet. An action declares its operation with `@operation` and calls a service.

Authentication, scopes, idempotency and the transaction of a write are middleware: see `config.settings.MIDDLEWARE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from http import HTTPStatus
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseNotModified
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import GenericViewSet

from kernel.api.context import ApiRequest
from kernel.api.exceptions import ApiError, NotFound
from kernel.api.ids import parse_id
from kernel.api.operations import Operation
from kernel.api.pagination import CursorPage
from kernel.api.requests import JSON, JSON_TYPE, Response
from kernel.api.serializers import render, validated
from kernel.cache.loaders import Loader
from kernel.cache.rendering import etag_of, matches_etag
from kernel.database.standbys import read_newest

REVALIDATE = "public, no-cache"
JSON_RENDERER = JSONRenderer()


def router() -> SimpleRouter:
    return SimpleRouter(trailing_slash=False, use_regex_path=False)


class ApiViewSet(GenericViewSet[Any]):
    http_method_names = ["get", "post", "put", "delete", "head"]
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    request: ApiRequest
    # The filters of a list; its cursors are bound to them (`kernel.api.filters`).
    filters: Mapping[str, Any] = MappingProxyType({})

    @cached_property
    def operation(self) -> Operation | None:
        """None for a method without a declaration."""
        return getattr(getattr(type(self), self.action or "", None), "operation", None)

    @property
    def default_response_headers(self) -> dict[str, str]:
        """Empty: DRF would add `Allow` to every response."""
        return {}

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[JSONRenderer, str]:
        """The operation decides on the media type of its response; `Accept` is ignored."""
        return JSON_RENDERER, JSON_TYPE

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> ApiRequest:
        """Return an ApiRequest: DRF has no setting for the request class."""
        self.action = self.action_map.get((request.method or "").lower())  # type: ignore[assignment]  # None: 405
        return ApiRequest(request, authenticators=self.get_authenticators())

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add a strong ETag to a public read, and return 304 if the client has it; caches must revalidate."""
        if self.operation is None or not self.operation.revalidates or response.status_code != HTTPStatus.OK:
            return response
        response.headers["ETag"] = etag = etag_of(response.content)
        response.headers.setdefault("Cache-Control", REVALIDATE)
        # As in the response cache, no other condition is evaluated.
        if matches_etag(request.META.get("HTTP_IF_NONE_MATCH", ""), etag):
            return HttpResponseNotModified(headers=response.headers)
        return response

    def body(self) -> dict[str, Any]:
        """The validated body, in snake_case; raises a 400 or 413."""
        return validated(self.operation and self.operation.body, self.request.data)

    def query(self) -> dict[str, Any]:
        """The validated query string, in snake_case; raises a 400."""
        return validated(self.operation and self.operation.query, self.request.query_params)

    def represent(self, instance: Any) -> Any:
        """The representation of an instance by the viewset's serializer."""
        return render(self.get_serializer_class(), instance)

    def path_id(self, missing: type[ApiError] = NotFound, name: str = "id") -> UUID:
        return parse_id(self.kwargs[name], missing=missing)

    def page(self, name: str, query: Mapping[str, Any], *, ranked: bool = False, **bound: Any) -> CursorPage:
        """The page of the list `name` that a validated ListQuery requests."""
        return CursorPage.of(name, query, ranked=ranked, **bound)

    def read(self, load: Callable[[], Any], *tags: str, headers: Mapping[str, str] | None = None) -> Response:
        """Respond with the data that `load` returns, and declare the cache tags that it depends on.

        `kernel.cache` caches the response until a tag is invalidated, and then refreshes it by `load`.
        """
        media = self.operation.media if self.operation else JSON
        loader = Loader(tags, load, media.render)
        snapshot = loader.snapshot()
        response = Response(loader.load_after(snapshot), headers=headers, media=media)
        if "HTTP_AUTHORIZATION" not in self.request.META:
            response.cache_snapshot, response.loader = snapshot, loader
        return response

    def read_uncached(self, load: Callable[[], Any]) -> Response:
        """Respond with the data that `load` returns. No cache tags name its rows: a search may find any post."""
        return Response(read_newest(load))
