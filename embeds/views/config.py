from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from rest_framework.decorators import action

from embeds import sightings
from embeds.analytics.events import KNOWN_EVENTS
from embeds.domains import host_of_origin
from embeds.exceptions import DomainNotAllowed, EmbedNotFound
from embeds.lookup import EmbedSnapshot, find_embed
from embeds.serializers.inputs import EmbedConfigQuery
from embeds.serializers.outputs import ClientConfigSerializer, EmbedConfigFields, EmbedConfigSerializer
from embeds.widget.context import POLL_SECONDS
from embeds.widget.ink import ink_on
from embeds.widget.locales import words
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from messaging.cache_tags import embed_tag

LOADER_VERSION = "1.0.0"
FEATURES = {"posts": True, "replies": True, "quotes": True, "reactions": True, "smartTags": True}
CONFIG_CACHE = "public, max-age=60, stale-while-revalidate=600"
CLIENT_CONFIG_CACHE = "public, max-age=300"


class EmbedConfigViewSet(ApiViewSet):
    lookup_url_kwarg = "serviceId"

    @operation(
        "getEmbedConfig",
        callers={CredentialKind.PUBLIC},
        query=EmbedConfigQuery,
        response=EmbedConfigSerializer,
        errors=(DomainNotAllowed, EmbedNotFound),
    )
    def retrieve(self, request: ApiRequest, **_path: str) -> Response:
        """Get the configuration that the loader needs."""
        embed_id = self.path_id(EmbedNotFound, "serviceId")
        origin = request.META.get("HTTP_ORIGIN")
        language = self.query().get("lang")
        headers = {"Cache-Control": CONFIG_CACHE, "Vary": "Origin"}
        return self.read(lambda: _config(embed_id, origin, language), embed_tag(embed_id), headers=headers)


def _config(embed_id: UUID, origin: str | None, language: str | None) -> dict[str, Any]:
    snapshot = find_embed(embed_id)
    try:
        _require_origin(snapshot, origin)
    except DomainNotAllowed as refusal:
        refusal.headers |= {"Cache-Control": "no-store", "Vary": "Origin"}
        raise
    config: dict[str, Any] = render(EmbedConfigFields, snapshot)
    shown = {"words": words(language)["loader"], "ink": ink_on(config["triggerConfig"]["color"])} if language else {}
    return config | {"config": config} | shown


def _require_origin(snapshot: EmbedSnapshot, origin: str | None) -> None:
    """Raises DomainNotAllowed (403). The owner sees which hosts asked, and which of them were refused."""
    is_refused = True
    try:
        snapshot.require_origin(origin)
        is_refused = False
    finally:
        if origin is not None:
            host = host_of_origin(origin)
            sightings.note(embed_id=snapshot.id, host=host, address=origin, is_refused=is_refused)


class ClientConfigViewSet(ApiViewSet):
    @action(detail=False, url_path="client-config")
    @operation("getEmbedClientConfig", callers={CredentialKind.PUBLIC}, response=ClientConfigSerializer)
    def client_config(self, request: ApiRequest) -> Response:
        """Get the settings that all embeds share."""
        return self.read(_client_config, headers={"Cache-Control": CLIENT_CONFIG_CACHE})


def _client_config() -> dict[str, Any]:
    return {
        "enabled": True,
        "apiUrl": settings.BASE_URL,
        "appUrl": settings.APP_URL,
        "streamUrl": settings.STREAM_URL,
        "loaderVersion": LOADER_VERSION,
        "analytics": {"enabled": True, "events": KNOWN_EVENTS},
        "features": FEATURES,
        "pollSeconds": POLL_SECONDS,
    }
