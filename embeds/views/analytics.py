from __future__ import annotations

import csv

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.decorators import action

from embeds.analytics.ingest import record_event
from embeds.analytics.summary import Summary, period, summarize, table_of
from embeds.exceptions import DomainNotAllowed, EmbedNotActive, EmbedNotFound
from embeds.serializers.inputs import NewEvent, SummaryQuery
from embeds.serializers.outputs import AcceptedSerializer, SummarySerializer
from embeds.services import owned_embed
from kernel.api.addresses import client_address
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import NotOwner
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import LINK, Response
from kernel.api.viewsets import ApiViewSet
from kernel.database.sql import database_now

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
