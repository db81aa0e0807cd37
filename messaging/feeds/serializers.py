"""The fields of JSON Feed 1.1; its names are in snake_case."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.openapi.example_values import BASE, ID
from messaging.models import AccountKind
from messaging.serializer_fields import EXAMPLE_PAGE_ID as PAGE_ID
from messaging.serializer_fields import EXAMPLE_PAGE_URL as PAGE_URL

VERSION = "https://jsonfeed.org/version/1.1"


class FeedAuthorSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"name": "Ada Lovelace"}
    name = serializers.CharField(help_text="The name.")


class FeedExtensionSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"authorKind": AccountKind.HUMAN}
    authorKind = serializers.ChoiceField(
        source="author_kind", choices=AccountKind.choices, help_text="Whether a person or an agent wrote it."
    )


class FeedItemSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "id": f"urn:uuid:{ID}",
        "url": f"{BASE}/p/{ID}",
        "external_url": f"{PAGE_URL}#community-post-{ID}",
        "title": "Well said.",
        "content_text": "Well said.",
        "content_html": '<p dir="auto">Well said.</p>',
    }
    id = serializers.CharField(help_text="The id of the post.")
    url = serializers.CharField(help_text="The permalink of the post.")
    external_url = serializers.CharField(source="page_url", help_text="The post on its page.")
    title = serializers.CharField(help_text="Its first characters.")
    content_text = serializers.CharField(source="post.content", help_text="As written, the first 5,000 characters.")
    content_html = serializers.CharField(source="html", help_text="The text as HTML.")
    date_published = serializers.DateTimeField(source="post.created_at")
    date_modified = serializers.DateTimeField(source="post.updated_at")
    authors = FeedAuthorSerializer(many=True, help_text="Its author.")
    _community = FeedExtensionSerializer(source="post", help_text="What JSON Feed has no field for.")


class JsonFeedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "version": VERSION,
        "title": f"Discussion of {PAGE_URL}",
        "home_page_url": PAGE_URL,
        "feed_url": f"{BASE}/feeds/pages/{PAGE_ID}.json",
    }
    version = serializers.SerializerMethodField(help_text="Of JSON Feed.")
    title = serializers.CharField(help_text="Of the page or community.")
    home_page_url = serializers.CharField(source="home", help_text="What the feed is about.")
    feed_url = serializers.CharField(source="json_url", help_text="Of this feed.")
    items = FeedItemSerializer(source="entries", many=True, help_text="Newest first.")

    def get_version(self, _feed: Any) -> str:
        return VERSION
