from __future__ import annotations

import csv
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request

from config.api.addresses import client_address
from config.api.callers import CallerKind
from config.api.errors import PayloadTooLarge
from config.api.operations import operation
from config.api.responses import Response
from config.api.sql import database_now
from config.api.views import ApiRequest, ApiView
from embeds.analytics.ingest import record_event
from embeds.analytics.summary import Summary, period, summarize
from embeds.answers import AcceptedRecord, SummaryRecord
from embeds.errors import NotOwner
from embeds.records import summary_record, summary_table
from embeds.serializers import NewEvent, SummaryQuery
from embeds.services import owned_embed
from messaging.errors import DomainNotAllowed, EmbedNotActive, EmbedNotFound

EVENT_BODY_MAX = 8_192
CSV_TYPE = "text/csv"


class EventsView(ApiView):
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # The middleware lets no body in without its length.
        if int(request.META.get("CONTENT_LENGTH") or 0) > EVENT_BODY_MAX:
            raise PayloadTooLarge(field="body", max=EVENT_BODY_MAX)
        super().initial(request, *args, **kwargs)

    @operation(
        "ingestAnalyticsEvent",
        callers={CallerKind.PUBLIC, CallerKind.AGENT},
        body=NewEvent,
        answer=AcceptedRecord,
        status=201,
        errors=(DomainNotAllowed, EmbedNotActive, EmbedNotFound),
        throttle="ingest",
        public_body=True,
    )
    def post(self, request: ApiRequest) -> Response:
        """Count one event. Neither address, user agent nor query string is kept."""
        record_event(
            address=client_address(request._request),
            user_agent=request.headers.get("User-Agent", ""),
            **self.body(NewEvent),
        )
        return Response({"accepted": True}, status=201)


class SummaryView(ApiView):
    @operation(
        "getEmbedAnalytics",
        callers={CallerKind.SIGNED_IN},
        query=SummaryQuery,
        answer=SummaryRecord,
        errors=(EmbedNotFound, NotOwner),
        also={(200, CSV_TYPE): OpenApiResponse(OpenApiTypes.STR, description="One row a day.")},
    )
    def get(self, request: ApiRequest, id: str) -> HttpResponse:
        """What happened on an embed of yours, of at most 400 days (UTC); `format=csv` gives one row a day."""
        embed = owned_embed(embed_id=self.path_id(EmbedNotFound), owner=request.caller.account)
        query = self.query(SummaryQuery)
        first, last = period(query.get("first"), query.get("last"), today=database_now().date())
        summary = summarize(embed_id=embed.pk, first=first, last=last)
        return _csv(summary) if query["format"] == "csv" else Response(summary_record(summary))


def _csv(summary: Summary) -> HttpResponse:
    name = f"embed-{summary.embed_id}-{summary.first}-{summary.last}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    response = HttpResponse(content_type=f"{CSV_TYPE}; charset=utf-8", headers=headers)
    csv.writer(response).writerows(summary_table(summary))
    return response
