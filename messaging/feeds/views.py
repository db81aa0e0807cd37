from __future__ import annotations

import re
from uuid import UUID

from django.conf import settings

from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import NotFound
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet
from messaging.cache_tags import community_tag, page_tag
from messaging.feeds import queries as feeds
from messaging.feeds.feed import ATOM, JSON_FEED, SCHEMA, Feed, feed_of_community, feed_of_page
from messaging.feeds.serializers import JsonFeedSerializer
from messaging.pages.moving import PageMoved, moved_to
from messaging.pages.page_ids import is_page_id
from messaging.posts.embed_views import embed_errors, shown_by, shown_tags
from messaging.posts.exceptions import CommunityNotFound
from messaging.posts.serializers import MessageQuery
from messaging.serializer_fields import PAGE_ID_SCHEMA

SLUG = re.compile(r"[-a-zA-Z0-9_]{1,60}")
PAGE = {"pageId": PAGE_ID_SCHEMA}
COMMUNITY = {"slug": {"type": "string", "pattern": f"^{SLUG.pattern}$", "examples": ["harbour-gazette"]}}


class PageFeedViewSet(ApiViewSet):
    @operation(
        "getPageAtomFeed",
        callers={CredentialKind.PUBLIC},
        path=PAGE,
        query=MessageQuery,
        response=SCHEMA,
        media=ATOM,
        throttle="feed",
        errors=(NotFound, *embed_errors()),
    )
    def atom(self, request: ApiRequest, **path: str) -> Response:
        """Get the newest 50 posts and replies of a page as Atom.

        Fewer if 50 would exceed 2 MiB. Longer texts than 5,000 characters are cut. If the texts together have very
        many marks of Markdown, some are as typed. The feed of a page that has moved has its posts too.
        """
        return self._feed(path["pageId"])

    @operation(
        "getPageJsonFeed",
        callers={CredentialKind.PUBLIC},
        path=PAGE,
        query=MessageQuery,
        response=JsonFeedSerializer,
        media=JSON_FEED,
        throttle="feed",
        errors=(NotFound, *embed_errors()),
    )
    def json(self, request: ApiRequest, **path: str) -> Response:
        """Get the newest 50 posts and replies of a page as JSON Feed."""
        return self._feed(path["pageId"])

    def _feed(self, page_id: str) -> Response:
        if not is_page_id(page_id):
            raise NotFound
        embed_id = self.query().get("embed_id")
        tags = page_tag(page_id), *shown_tags(embed_id)
        try:
            return self.read(lambda: _of_page(page_id, embed_id), *tags)
        except PageMoved as moved:
            new_id = moved.page_id
            return self.read(lambda: _of_page(new_id, embed_id), *tags, page_tag(new_id))


class CommunityFeedViewSet(ApiViewSet):
    @operation(
        "getCommunityAtomFeed",
        callers={CredentialKind.PUBLIC},
        path=COMMUNITY,
        response=SCHEMA,
        media=ATOM,
        throttle="feed",
        errors=(CommunityNotFound,),
    )
    def atom(self, request: ApiRequest, slug: str) -> Response:
        """Get the newest 50 posts and replies of a community as Atom."""
        return self._feed(slug)

    @operation(
        "getCommunityJsonFeed",
        callers={CredentialKind.PUBLIC},
        path=COMMUNITY,
        response=JsonFeedSerializer,
        example={
            "title": "Harbour Gazette",
            "home_page_url": settings.BASE_URL,
            "feed_url": f"{settings.BASE_URL}/feeds/communities/harbour-gazette.json",
        },
        media=JSON_FEED,
        throttle="feed",
        errors=(CommunityNotFound,),
    )
    def json(self, request: ApiRequest, slug: str) -> Response:
        """Get the newest 50 posts and replies of a community as JSON Feed."""
        return self._feed(slug)

    def _feed(self, slug: str) -> Response:
        """The tag names the community by its id, because its slug may change: it is looked up before the snapshot."""
        community_id = feeds.community_with(slug) if SLUG.fullmatch(slug) else None
        if community_id is None:
            raise CommunityNotFound
        return self.read(lambda: _of_community(community_id, slug), community_tag(community_id))


def _of_page(page_id: str, embed_id: UUID | None) -> Feed:
    """Raises PageMoved. As in lists, redirects are queried only for a page without posts."""
    url, posts = feeds.page_feed(page_id, shown_by(embed_id))
    if not posts and (new_id := moved_to(page_id)) is not None:
        raise PageMoved(new_id)
    return feed_of_page(page_id, url, posts, embed_id)


def _of_community(community_id: UUID, slug: str) -> Feed:
    found = feeds.community_feed(community_id, slug=slug)
    if found is None:
        raise CommunityNotFound
    name, posts = found
    return feed_of_community(community_id, slug, name, posts)
