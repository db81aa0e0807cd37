from __future__ import annotations

from typing import Any

from rest_framework import serializers

from config.api.fields import ListOf, Text
from config.api.serializers import BodySerializer

PRESENCE_URLS_MAX = 100


class NormalizeUrlBody(BodySerializer):
    url = Text(help_text="An http or https URL of at most 2048 characters, as sent and normalised.")


class NormalizedUrlSerializer(serializers.Serializer[Any]):
    pageId = serializers.CharField()
    normalizedUrl = serializers.CharField()
    rulesApplied = serializers.ListField(child=serializers.CharField())
    removedParams = serializers.ListField(child=serializers.CharField())


class PresenceBody(BodySerializer):
    urls = ListOf(child=Text(allow_blank=True), max_length=PRESENCE_URLS_MAX, help_text="URLs of pages, in any form.")


class PresenceCountSerializer(serializers.Serializer[Any]):
    url = serializers.CharField(help_text="As sent.")
    pageId = serializers.CharField(source="page_id", allow_null=True, help_text="null: no http or https URL.")
    posts = serializers.IntegerField(source="presence.posts", help_text="Published posts, without replies.")
    replies = serializers.IntegerField(source="presence.replies", help_text="Published replies.")
    lastPostAt = serializers.DateTimeField(
        source="presence.last_post_at", allow_null=True, help_text="Of the last post or reply; null: there is none."
    )


class PresenceSerializer(serializers.Serializer[Any]):
    counts = PresenceCountSerializer(many=True, help_text="In the order of `urls`.")


class SmartTagSerializer(serializers.Serializer[Any]):
    type = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    payloadSchema = serializers.DictField(help_text="JSON Schema 2020-12.")
    example = serializers.DictField()


class SmartTagListSerializer(serializers.Serializer[Any]):
    smartTags = SmartTagSerializer(many=True)
