from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rest_framework.decorators import action

from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import NotFound
from kernel.api.operations import operation
from kernel.api.pagination import CursorPage, envelope
from kernel.api.requests import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from messaging.cache_tags import COMMUNITIES, community_tag
from messaging.communities.serializers import (
    CommunitiesQuery,
    CommunityListSerializer,
    CommunitySerializer,
    DiscussionSerializer,
)
from messaging.communities.services import create_community
from messaging.models import Community
from messaging.moderation.exceptions import CommunityCreationClosed, SlugTaken, TooManyCommunities
from messaging.moderation.serializers import NewCommunity
from messaging.pages.discussions import discussion_of
from messaging.pages.page_ids import is_page_id
from messaging.posts.exceptions import CommunityNotFound, page_id_needed
from messaging.serializer_fields import PAGE_ID_SCHEMA


class CommunityViewSet(ApiViewSet):
    @operation(
        "listCommunities",
        callers={CredentialKind.PUBLIC},
        query=CommunitiesQuery,
        response=CommunityListSerializer,
        links={
            "getCommunityAtomFeed": {"slug": "communities/0/slug"},
        },
    )
    def list(self, request: ApiRequest) -> Response:
        """List the communities, newest first."""
        query = self.query()
        page = self.page("communities", query)
        return self.read(lambda: _listed(query, page), COMMUNITIES)

    @operation(
        "createCommunity",
        callers={CredentialKind.PERSON},
        body=NewCommunity,
        response=CommunitySerializer,
        status=201,
        response_headers=("Location",),
        errors=(CommunityCreationClosed, SlugTaken, TooManyCommunities),
        example={"posts": 0},
        links={"getCommunity": {"id": "id"}, "updateCommunity": {"id": "id"}},
    )
    def create(self, request: ApiRequest) -> Response:
        """Create a community, which you moderate. A person may create five."""
        community = create_community(owner=request.user, **self.body())
        created = render(CommunitySerializer, Community.objects.with_posts().get(pk=community.pk))
        return Response(created, status=201, headers={"Location": f"/v1/communities/{community.pk}"})

    @operation(
        "getCommunity", callers={CredentialKind.PUBLIC}, response=CommunitySerializer, errors=(CommunityNotFound,)
    )
    def retrieve(self, request: ApiRequest, id: str) -> Response:
        """Get a community."""
        community_id = self.path_id(CommunityNotFound)
        return self.read(lambda: _found(community_id), community_tag(community_id))

    @action(detail=True, url_path="pages/<str:pageId>")
    @operation(
        "getDiscussion",
        callers={CredentialKind.PUBLIC},
        path={"pageId": PAGE_ID_SCHEMA},
        response=DiscussionSerializer,
        errors=(CommunityNotFound, NotFound),
    )
    def discussion(self, request: ApiRequest, id: str, pageId: str) -> Response:  # noqa: N803  of the path
        """Get whether a community takes posts on a page.

        A closed discussion can be read; its posts can be edited, deleted and reacted to.
        """
        if not is_page_id(pageId):
            raise NotFound(page_id_needed(pageId))
        community_id = self.path_id(CommunityNotFound)
        return self.read_uncached(lambda: _discussion(community_id, pageId))


def _listed(query: Mapping[str, Any], page: CursorPage) -> dict[str, Any]:
    communities = Community.objects.with_posts()
    if "q" in query:
        communities = communities.filter(name__icontains=query["q"])
    rows, next_cursor = page.paginate(communities)
    return envelope("communities", [render(CommunitySerializer, row) for row in rows], next_cursor)


def _found(community_id: UUID) -> dict[str, Any]:
    community = Community.objects.with_posts().filter(pk=community_id).first()
    if community is None:
        raise CommunityNotFound
    found: dict[str, Any] = render(CommunitySerializer, community)
    return found


def _discussion(community_id: UUID, page_id: str) -> dict[str, Any]:
    found = discussion_of(community_id=community_id, page_id=page_id)
    if found is None:
        raise CommunityNotFound
    record: dict[str, Any] = render(DiscussionSerializer, found)
    return record
