from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from config.cache.loaders import Loader
from config.cache.rendering import to_json
from config.cache.versions import TagSnapshot

JSON_TYPE = "application/json"


class Response(HttpResponse):
    """A JSON response, rendered at once: `Accept` has no effect.

    `config.cache` caches a response with a `cache_snapshot`, and refreshes it by its `loader`.
    """

    cache_snapshot: TagSnapshot | None = None
    loader: Loader | None = None

    def __init__(self, data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(to_json(data), status=status, headers=headers, content_type=JSON_TYPE)
