"""The embeds of a community, for its moderators."""

from __future__ import annotations

import csv
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin

from embeds import page_loads
from embeds.analytics.ingest import KNOWN_EVENTS, record_event
from embeds.analytics.summary import Summary, period, summarize, table_of
from embeds.domains import host_of_origin
from embeds.exceptions import DomainNotAllowed, EmbedDisabled, EmbedNotActive, EmbedNotFound, JwksOff
from embeds.lookup import EmbedSnapshot, find_embed
from embeds.models import Embed, EmbedQuerySet, EmbedStatus
from embeds.serializers.inputs import (
    BlacklistBody,
    EmbedChanges,
    EmbedConfigQuery,
    EndingReason,
    NewEmbed,
    NewEvent,
    SummaryQuery,
)
from embeds.serializers.outputs import (
    AcceptedSerializer,
    BlacklistSerializer,
    ClientConfigSerializer,
    CommunityEmbedListSerializer,
    CommunityEmbedSerializer,
    EmbedConfigFields,
    EmbedConfigSerializer,
    EmbedInstanceSerializer,
    EmbedListSerializer,
    EndedEmbedSerializer,
    SummarySerializer,
)
from embeds.services import create_embed, delete_embed, end_embed, owned_embed, set_blacklist, update_embed
from embeds.widget.context import POLL_SECONDS
from embeds.widget.ink import ink_on
from embeds.widget.locales import words
from kernel.api.addresses import client_address
from kernel.api.context import ApiContext, ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import NotOwner
from kernel.api.fields import ListQuery
from kernel.api.filters import ChoiceFilter
from kernel.api.operations import operation
from kernel.api.pagination import envelope
from kernel.api.requests import LINK, Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from kernel.database.sql import database_now
from kernel.writes.idempotency import Replay
from messaging.cache_tags import embed_tag
from messaging.communities.moderators import moderated_community
from messaging.moderation.exceptions import ModeratorRequired
from messaging.posts.exceptions import CommunityNotFound
from messaging.posts.serializers import DeletedSerializer


class EmbedFilter(filters.FilterSet):
    status = ChoiceFilter(choices=EmbedStatus.choices, help_text="Of this status.")


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
            page_loads.note(embed_id=snapshot.id, host=host, address=origin, is_refused=is_refused)


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


OWNERS = {CredentialKind.SIGNED_IN}
NOT_YOURS = (EmbedNotFound, NotOwner)
# OpenAPI links: operations that take the id of the new embed.
NEXT = {
    "getEmbedConfig": {"serviceId": "id"},
    "ingestAnalyticsEvent": {
        "body.serviceId": "id",
        "body.event": "=trigger_click",
        "body.pageUrl": "=https://example.com/",
    },
    "getEmbedInstance": {"id": "id"},
    "updateEmbedInstance": {"id": "id"},
    "deleteEmbedInstance": {"id": "id"},
    "getEmbedAnalytics": {"id": "id"},
    "getEmbedBlacklist": {"id": "id"},
    "putEmbedBlacklist": {"id": "id"},
}


class EmbedViewSet(ListModelMixin, ApiViewSet):
    """A site owner's embeds."""

    queryset = Embed.objects.live()
    serializer_class = EmbedInstanceSerializer
    filterset_class = EmbedFilter
    list_name, results_key, cursor_owner = "embeds", "instances", "owner"

    @operation(
        "listEmbedInstances",
        callers=OWNERS,
        query=ListQuery,
        response=EmbedListSerializer,
    )
    def list(self, request: ApiRequest) -> HttpResponse:  # type: ignore[override]
        """List your embeds, newest first."""
        return super().list(request)

    def get_queryset(self) -> EmbedQuerySet:
        owned: EmbedQuerySet = super().get_queryset()  # type: ignore[assignment]
        return owned.owned_by(self.request.user.pk)

    @operation(
        "createEmbedInstance",
        callers=OWNERS,
        body=NewEmbed,
        response=EmbedInstanceSerializer,
        status=201,
        errors=(CommunityNotFound, ModeratorRequired, JwksOff),
        response_headers=("Location",),
        links=NEXT,
    )
    def create(self, request: ApiRequest) -> Response:
        """Create an embed."""
        embed = create_embed(owner=request.user, **self.body())
        location = {"Location": f"/api/embeds/instances/{embed.pk}"}
        return Response(self.represent(embed), status=201, headers=location)

    @operation("getEmbedInstance", callers=OWNERS, response=EmbedInstanceSerializer, errors=NOT_YOURS)
    def retrieve(self, request: ApiRequest, id: str) -> Response:
        """Get one of your embeds."""
        return Response(self.represent(self.owned()))

    @operation(
        "updateEmbedInstance",
        callers=OWNERS,
        body=EmbedChanges,
        response=EmbedInstanceSerializer,
        errors=(*NOT_YOURS, CommunityNotFound, ModeratorRequired, EmbedDisabled, JwksOff),
    )
    def update(self, request: ApiRequest, id: str) -> Response:
        """Change an embed."""
        embed = self.owned()
        return Response(self.represent(update_embed(embed_id=embed.pk, owner=request.user, **self.body())))

    @operation("deleteEmbedInstance", callers=OWNERS, response=DeletedSerializer, errors=NOT_YOURS)
    def destroy(self, request: ApiRequest, id: str) -> Response:
        """Delete an embed with its webhooks. The posts written through it stay."""
        embed_id = self.path_id(EmbedNotFound)
        delete_embed(embed_id=embed_id, owner=request.user)
        return Response({"id": embed_id, "deleted": True})

    @action(detail=True)
    @operation("getEmbedBlacklist", callers=OWNERS, response=BlacklistSerializer, errors=NOT_YOURS)
    def blacklist(self, request: ApiRequest, id: str) -> Response:
        """List the domains where the embed must not run."""
        return Response({"domains": self.owned().domain_blacklist})

    @blacklist.mapping.put
    @operation("putEmbedBlacklist", callers=OWNERS, body=BlacklistBody, response=BlacklistSerializer, errors=NOT_YOURS)
    def replace_blacklist(self, request: ApiRequest, id: str) -> Response:
        """Replace the domains where the embed must not run, whitelisted or not."""
        embed = set_blacklist(embed_id=self.owned().pk, owner=request.user, **self.body())
        return Response({"domains": embed.domain_blacklist})

    def owned(self) -> Embed:
        """Return the embed of the path; raises EmbedNotFound (404) or NotOwner (403)."""
        return owned_embed(embed_id=self.path_id(EmbedNotFound), owner=self.request.user)


EVENT_BODY_MAX = 8_192
CSV_TYPE = "text/csv"


class AnalyticsViewSet(ApiViewSet):
    @action(detail=False, methods=["post"])
    @operation(
        "ingestAnalyticsEvent",
        callers={CredentialKind.PUBLIC, CredentialKind.AGENT},
        body=NewEvent,
        response=AcceptedSerializer,
        status=201,
        errors=(DomainNotAllowed, EmbedNotActive, EmbedNotFound),
        throttle="ingest",
        public_body=True,
        body_max=EVENT_BODY_MAX,
    )
    def events(self, request: ApiRequest) -> Response:
        """Count one event. Address and user agent are not stored."""
        record_event(
            address=client_address(request._request),
            user_agent=request.headers.get("User-Agent", ""),
            **self.body(),
        )
        return Response({"accepted": True}, status=201)

    @operation(
        "getEmbedAnalytics",
        callers={CredentialKind.SIGNED_IN},
        query=SummaryQuery,
        response=SummarySerializer,
        errors=(EmbedNotFound, NotOwner),
        also={(200, CSV_TYPE): OpenApiResponse(OpenApiTypes.STR, description="One row per day.")},
    )
    def retrieve(self, request: ApiRequest, id: str) -> HttpResponse:
        """Get the event counts of your embed over at most 400 days."""
        embed = owned_embed(embed_id=self.path_id(EmbedNotFound), owner=request.user)
        query = self.query()
        first, last = period(query.get("first"), query.get("last"), today=database_now().date())
        summary = summarize(embed_id=embed.pk, first=first, last=last)
        return _csv(summary) if query["format"] == "csv" else Response(SummarySerializer(summary).data)


def _csv(summary: Summary) -> HttpResponse:
    name = f"embed-{summary.embed_id}-{summary.first}-{summary.last}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Link": LINK}
    response = HttpResponse(content_type=f"{CSV_TYPE}; charset=utf-8", headers=headers)
    csv.writer(response).writerows(table_of(summary))
    return response


PERSON = {CredentialKind.PERSON}


def _authorize_replay(api: ApiContext, _replay: Replay) -> None:
    moderated_community(community_id=api.path_id(CommunityNotFound), by=api.credential.user)


class CommunityEmbedViewSet(ApiViewSet):
    @action(detail=True, methods=["get"])
    @operation(
        "listCommunityEmbeds",
        callers=PERSON,
        query=ListQuery,
        response=CommunityEmbedListSerializer,
        errors=(CommunityNotFound, ModeratorRequired),
    )
    def embeds(self, request: ApiRequest, id: str) -> Response:
        """List the embeds of a community that you moderate, newest first."""
        community_id = self.path_id(CommunityNotFound)
        moderated_community(community_id=community_id, by=request.user)
        page = self.page("community-embeds", self.query(), community=community_id)
        rows, next_cursor = page.paginate(Embed.objects.of_community(community_id))
        embeds = [render(CommunityEmbedSerializer, row) for row in rows]
        return Response(envelope("embeds", embeds, next_cursor))

    @action(detail=True, methods=["post"], url_path="embeds/<str:embedId>/end")
    @operation(
        "endCommunityEmbed",
        callers=PERSON,
        body=EndingReason,
        response=EndedEmbedSerializer,
        errors=(CommunityNotFound, ModeratorRequired, EmbedNotFound),
        authorize_replay=_authorize_replay,
    )
    def end(self, request: ApiRequest, id: str, embedId: str) -> Response:  # noqa: N803  of the path
        """Delete an embed of a community that you moderate. Its posts stay."""
        embed_id = self.path_id(EmbedNotFound, "embedId")
        end_embed(community_id=self.path_id(CommunityNotFound), embed_id=embed_id, by=request.user, **self.body())
        return Response({"id": embed_id, "ended": True})
