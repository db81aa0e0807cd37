from __future__ import annotations

from typing import Any

from rest_framework.decorators import action

from config.api.credentials import CredentialKind
from config.api.operations import operation
from config.api.requests import ApiRequest
from config.api.responses import Response
from config.api.viewsets import ApiViewSet
from messaging import smart_tags
from messaging.exceptions import InvalidUrlError
from messaging.serializers.pages import NormalizedUrlSerializer, NormalizeUrlBody, SmartTagListSerializer
from messaging.services.pages import normalize_url


class PageViewSet(ApiViewSet):
    @action(detail=False, methods=["post"], url_path="normalize-url")
    @operation(
        "normalizeUrl",
        callers={CredentialKind.PUBLIC, CredentialKind.AGENT},
        body=NormalizeUrlBody,
        response=NormalizedUrlSerializer,
        errors=(InvalidUrlError,),
        throttle="normalize_url",
        links={"listMessages": {"pageId": "pageId"}},
    )
    def normalize_url(self, request: ApiRequest) -> Response:
        """Return the page id of a URL. The URL is not fetched.

        `rulesApplied` names the rules that changed the URL, `removedParams` the tracking parameters that were dropped.
        """
        page = normalize_url(**self.body())
        return Response(
            {
                "pageId": page.page_id,
                "normalizedUrl": page.normalized_url,
                "rulesApplied": page.rules_applied,
                "removedParams": page.removed_params,
            }
        )


class SmartTagViewSet(ApiViewSet):
    @operation("listSmartTags", callers={CredentialKind.PUBLIC}, response=SmartTagListSerializer)
    def list(self, request: ApiRequest) -> Response:
        """List the smart tag types, each with the JSON Schema of its payload and an example."""
        return self.read(_smart_tags)


def _smart_tags() -> dict[str, Any]:
    tags = [
        {
            "type": tag.type,
            "title": tag.title,
            "description": tag.description,
            "payloadSchema": tag.payload_schema,
            "example": tag.example,
        }
        for tag in smart_tags.SMART_TAGS.values()
    ]
    return {"smartTags": tags}
