"""The fields of JSON Feed 1.1; its names are in snake_case."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

VERSION = "https://jsonfeed.org/version/1.1"


class FeedAuthorSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()


class FeedItemSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(help_text="`urn:uuid:` and the id of the post.")
    url = serializers.CharField(help_text="The permalink of the post.")
    external_url = serializers.CharField(
        source="page_url", help_text="The page, with `#community-post-` and the id of the post."
    )
    title = serializers.CharField(help_text="The first characters of the text.")
    content_text = serializers.CharField(source="post.content")
    date_published = serializers.DateTimeField(source="post.created_at")
    date_modified = serializers.DateTimeField(source="post.updated_at")
    authors = FeedAuthorSerializer(many=True)


class JsonFeedSerializer(serializers.Serializer[Any]):
    version = serializers.SerializerMethodField()
    title = serializers.CharField()
    home_page_url = serializers.CharField(source="home")
    feed_url = serializers.CharField(source="json_url")
    items = FeedItemSerializer(source="entries", many=True)

    def get_version(self, _feed: Any) -> str:
        return VERSION
