from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings

from config.api.callers import CallerKind
from config.api.operations import operation
from config.api.responses import Response
from config.api.views import ApiRequest, ApiView
from embeds.analytics.events import KNOWN_EVENTS
from embeds.answers import ClientConfigRecord, EmbedConfigRecord
from embeds.cache_tags import embed_tag
from embeds.records import config_record
from embeds.sources import find_source
from messaging.errors import DomainNotAllowed, EmbedNotFound

LOADER_VERSION = "1.0.0"
POLL_SECONDS = 15
FEATURES = {"posts": True, "replies": True, "quotes": True, "reactions": True, "smartTags": True}
CONFIG_CACHE = "public, max-age=60, stale-while-revalidate=600"
CLIENT_CONFIG_CACHE = "public, max-age=300"


class EmbedConfigView(ApiView):
    @operation(
        "getEmbedConfig",
        callers={CallerKind.PUBLIC},
        answer=EmbedConfigRecord,
        errors=(DomainNotAllowed, EmbedNotFound),
    )
    def get(self, request: ApiRequest, service_id: str) -> Response:
        """What the loader needs of an embed, refused to pages on other domains than the owner's."""
        embed_id = self.path_id(EmbedNotFound, "service_id")
        origin = request.META.get("HTTP_ORIGIN")
        headers = {"Cache-Control": CONFIG_CACHE, "Vary": "Origin"}
        return self.read(lambda: _config(embed_id, origin), embed_tag(embed_id), headers=headers)


def _config(embed_id: UUID, origin: str | None) -> dict[str, Any]:
    source = find_source(embed_id)
    try:
        source.require_origin(origin)
    except DomainNotAllowed as refusal:
        refusal.headers |= {"Cache-Control": "no-store", "Vary": "Origin"}
        raise
    return config_record(source)


class ClientConfigView(ApiView):
    @operation("getEmbedClientConfig", callers={CallerKind.PUBLIC}, answer=ClientConfigRecord)
    def get(self, request: ApiRequest) -> Response:
        """What holds for every embed of this service."""
        return self.read(_client_config, headers={"Cache-Control": CLIENT_CONFIG_CACHE})


def _client_config() -> dict[str, Any]:
    return {
        "enabled": True,
        "apiUrl": settings.BASE_URL,
        "appUrl": settings.APP_URL,
        "loaderVersion": LOADER_VERSION,
        "analytics": {"enabled": True, "events": KNOWN_EVENTS},
        "features": FEATURES,
        "pollSeconds": POLL_SECONDS,
    }
