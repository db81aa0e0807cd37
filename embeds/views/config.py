from __future__ import annotations

from hashlib import sha256

from django.conf import settings
from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.utils import OpenApiResponse
from config.api.responses import Response

from config.api.callers import CallerKind
from config.api.operations import operation
from config.api.responses import JSON_TYPE, to_json
from config.api.views import ApiRequest, ApiView
from embeds.analytics.events import KNOWN_EVENTS
from embeds.answers import ClientConfigRecord, EmbedConfigRecord
from embeds.models import Embed
from embeds.records import config_record
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
        headers=("If-None-Match",),
        errors=(DomainNotAllowed, EmbedNotFound),
        also={304: OpenApiResponse(None, description="The config is still what `If-None-Match` names.")},
    )
    def get(self, request: ApiRequest, service_id: str) -> HttpResponse:
        """What the loader needs of an embed, refused to pages on other domains than the owner's."""
        embed = Embed.objects.live().filter(pk=self.path_id(EmbedNotFound, "service_id")).first()
        if embed is None:
            raise EmbedNotFound
        if not embed.allows_origin(request.headers.get("Origin")):
            refusal = DomainNotAllowed()
            refusal.headers |= {"Cache-Control": "no-store", "Vary": "Origin"}
            raise refusal
        body = to_json(config_record(embed))
        etag = f'"{sha256(body).hexdigest()[:32]}"'
        headers = {"ETag": etag, "Cache-Control": CONFIG_CACHE, "Vary": "Origin"}
        response = HttpResponse(body, content_type=JSON_TYPE, headers=headers)
        return get_conditional_response(request._request, etag=etag, response=response) or response


class ClientConfigView(ApiView):
    @operation("getEmbedClientConfig", callers={CallerKind.PUBLIC}, answer=ClientConfigRecord)
    def get(self, request: ApiRequest) -> Response:
        """What holds for every embed of this service."""
        return Response(
            {
                "enabled": True,
                "apiUrl": settings.BASE_URL,
                "appUrl": settings.APP_URL,
                "loaderVersion": LOADER_VERSION,
                "analytics": {"enabled": True, "events": KNOWN_EVENTS},
                "features": FEATURES,
                "pollSeconds": POLL_SECONDS,
            },
            headers={"Cache-Control": CLIENT_CONFIG_CACHE},
        )
