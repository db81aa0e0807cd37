"""The response class of every viewset, and what requests and responses share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse

from kernel.api.exceptions import ApiError
from kernel.cache.loaders import Loader
from kernel.cache.rendering import to_json
from kernel.cache.versions import TagSnapshot


def contains_nul(request: HttpRequest) -> bool:
    """Whether a parameter of a form has a NUL, which PostgreSQL refuses and only some of Django's fields check."""
    sent = (value for parameters in (request.GET, request.POST) for _, values in parameters.lists() for value in values)
    return any("\x00" in value for value in sent)


JSON_TYPE = "application/json"
# The media type of a refusal as RFC 9457 has it (`kernel.api.middleware`).
PROBLEM_TYPE = "application/problem+json"
MARKDOWN_TYPE = "text/markdown"
# Where a client that knows one address only finds the others (RFC 8631, RFC 9727).
LINK = (
    '</openapi.json>; rel="service-desc", </llms.txt>; rel="service-doc", </.well-known/api-catalog>; rel="api-catalog"'
)


class Media(NamedTuple):
    """The media type of a response, and the function that renders its data."""

    type: str
    render: Callable[[Any], bytes]


JSON = Media(JSON_TYPE, to_json)


class Response(HttpResponse):
    """A response, JSON in all but a few operations, rendered at once: `Accept` has no effect.

    `kernel.cache` caches a response with a `cache_snapshot`, and refreshes it by its `loader`.
    """

    cache_snapshot: TagSnapshot | None = None
    loader: Loader | None = None
    # The refusal that it is the body of.
    error: ApiError | None = None

    def __init__(
        self, data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None, media: Media = JSON
    ) -> None:
        super().__init__(media.render(data), status=status, headers=headers, content_type=media.type)
        self.headers["Link"] = LINK
