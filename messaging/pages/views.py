from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework.decorators import action

from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import InvalidParameter
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from messaging.cache_tags import page_tag
from messaging.pages.moving import PageMoved, moved_to
from messaging.pages.page_ids import is_page_id
from messaging.pages.presence import participants_of
from messaging.pages.serializers import (
    NormalizedUrlSerializer,
    NormalizeUrlBody,
    PageCommunitySerializer,
    ParticipantListSerializer,
    ParticipantsQuery,
    PresenceBody,
    PresenceSerializer,
    SmartTagListSerializer,
)
from messaging.pages.services import communities_of, count_presence, normalize_url
from messaging.posts.embed_views import embed_errors, shown_by, shown_tags
from messaging.posts.exceptions import InvalidUrlError, page_id_needed
from messaging.smart_tags import SMART_TAGS


class PageViewSet(ApiViewSet):
    @action(detail=False, methods=["post"], url_path="normalize-url")
    @operation(
        "normalizeUrl",
        callers={CredentialKind.PUBLIC, CredentialKind.AGENT},
        body=NormalizeUrlBody,
        response=NormalizedUrlSerializer,
        errors=(InvalidUrlError,),
        throttle="normalize_url",
        links={
            "createMessage": {"body.pageId": "pageId", "body.content": "=Hello."},
            "listMessages": {"pageId": "pageId"},
            "getPageAtomFeed": {"pageId": "pageId"},
        },
    )
    def normalize_url(self, request: ApiRequest) -> Response:
        """Get the page id of a URL. The URL is not fetched."""
        page = normalize_url(**self.body())
        return Response(
            {
                "pageId": page.page_id,
                "normalizedUrl": page.normalized_url,
                "rulesApplied": page.rules_applied,
                "removedParams": page.removed_params,
                "communities": [render(PageCommunitySerializer, community) for community in communities_of(page)],
            }
        )

    @action(detail=False, methods=["post"])
    @operation(
        "getPresenceCounts",
        callers={CredentialKind.PUBLIC, CredentialKind.AGENT},
        body=PresenceBody,
        # The loader's request, which thus needs no preflight.
        public_body=True,
        response=PresenceSerializer,
        errors=embed_errors(),
    )
    def counts(self, request: ApiRequest) -> Response:
        """Count the posts and replies on up to 100 pages. Nothing is stored."""
        body = self.body()
        return self.read_uncached(lambda: render(PresenceSerializer, {"counts": count_presence(**body)}))

    @action(detail=False)
    @operation(
        "listParticipants",
        callers={CredentialKind.PUBLIC},
        query=ParticipantsQuery,
        response=ParticipantListSerializer,
        errors=embed_errors(),
    )
    def participants(self, request: ApiRequest) -> Response:
        """List the authors of the newest 200 posts and 200 replies of a page, at most 100."""
        query = self.query()
        page_id, embed_id = query["page_id"], query.get("embed_id")
        if not is_page_id(page_id):
            raise InvalidParameter(page_id_needed(page_id), field="pageId")
        tags = page_tag(page_id), *shown_tags(embed_id)
        try:
            return self.read(lambda: _participants(page_id, embed_id), *tags)
        except PageMoved as moved:
            new_id = moved.page_id
            return self.read(lambda: _participants(new_id, embed_id), *tags, page_tag(new_id))


class SmartTagViewSet(ApiViewSet):
    @operation("listSmartTags", callers={CredentialKind.PUBLIC}, response=SmartTagListSerializer)
    def list(self, request: ApiRequest) -> Response:
        """List the smart tags, each with the JSON Schema of its payload."""
        return self.read(_smart_tags)


def _participants(page_id: str, embed_id: UUID | None) -> dict[str, Any]:
    """Raises PageMoved. As in lists, redirects are queried only for a page without posts."""
    participants = participants_of(page_id, shown_by(embed_id))
    if not participants and (new_id := moved_to(page_id)) is not None:
        raise PageMoved(new_id)
    return {"participants": participants}


def _smart_tags() -> dict[str, Any]:
    tags = [
        {
            "type": tag.type,
            "title": tag.title,
            "description": tag.description,
            "payloadSchema": tag.payload_schema,
            "example": tag.example,
        }
        for tag in SMART_TAGS.values()
    ]
    return {"smartTags": tags}
