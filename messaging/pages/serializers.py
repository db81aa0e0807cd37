from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.fields import Id, ListOf, Text
from kernel.api.openapi.example_values import TIME
from kernel.api.serializers import BodySerializer
from messaging.accounts.serializers import AccountSerializer
from messaging.posts.serializers import MessageQuery
from messaging.serializer_fields import EXAMPLE_PAGE_ID, EXAMPLE_PAGE_URL, PageIdField, PageIdText, PageUrl
from messaging.smart_tags import SMART_TAGS

PRESENCE_URLS_MAX = 100
NOTE = SMART_TAGS["note"]


class NormalizeUrlBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"url": "https://www.example.com/article?utm_source=mail"}
    url = PageUrl(help_text="http or https; its normal form has the same maximum.")


class PageCommunitySerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "name": "Harbour Gazette",
        "slug": "harbour-gazette",
        "proved": False,
        "closed": False,
    }
    id = serializers.UUIDField(help_text="Send it as `communityId`.")
    name = serializers.CharField(help_text="Its name.")
    slug = serializers.CharField(help_text="In addresses.")
    proved = serializers.BooleanField(help_text="It has proved that the host is its own.")
    closed = serializers.BooleanField(help_text="It takes no new posts on this page.")


class NormalizedUrlSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "normalizedUrl": EXAMPLE_PAGE_URL,
        "rulesApplied": ["drop_www", "drop_tracking"],
        "removedParams": ["utm_source"],
    }
    pageId = PageIdField()
    normalizedUrl = serializers.CharField(help_text="What the id is made of.")
    rulesApplied = serializers.ListField(child=serializers.CharField(), help_text="What changed the URL.")
    removedParams = serializers.ListField(child=serializers.CharField(), help_text="The tracking parameters in it.")
    communities = PageCommunitySerializer(
        many=True,
        help_text="Those whose widget the page has: its whitelist names the host, where it was loaded in the last 30 "
        "days. At most 20.",
    )


class PresenceBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"urls": [EXAMPLE_PAGE_URL]}
    urls = ListOf(child=Text(allow_blank=True), max_length=PRESENCE_URLS_MAX, help_text="URLs of pages, in any form.")
    embedId = Id(source="embed_id", required=False, help_text="What this embed shows.")


class PresenceCountSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "url": EXAMPLE_PAGE_URL,
        "pageId": EXAMPLE_PAGE_ID,
        "posts": 1,
        "replies": 0,
        "lastPostAt": TIME,
    }
    url = serializers.CharField(help_text="As sent.")
    pageId = PageIdField(source="page_id", allow_null=True, help_text="null: no http or https URL.")
    posts = serializers.IntegerField(source="presence.posts", help_text="Without replies.")
    replies = serializers.IntegerField(source="presence.replies", help_text="Replies.")
    lastPostAt = serializers.DateTimeField(source="presence.last_post_at", allow_null=True, help_text="null: no post.")


class PresenceSerializer(serializers.Serializer[Any]):
    counts = PresenceCountSerializer(many=True, help_text="In the order of `urls`.")


class ParticipantsQuery(MessageQuery):
    pageId = PageIdText(source="page_id", help_text="The page.")


class ParticipantListSerializer(serializers.Serializer[Any]):
    participants = AccountSerializer(many=True, help_text="Who wrote last comes first.")


class SmartTagSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "type": NOTE.type,
        "title": NOTE.title,
        "description": NOTE.description,
        "payloadSchema": NOTE.payload_schema,
        "example": NOTE.example,
    }
    type = serializers.CharField(help_text="Send it as `tagType`.")
    title = serializers.CharField(help_text="For people.")
    description = serializers.CharField(help_text="When to use it.")
    payloadSchema = serializers.DictField(help_text="JSON Schema 2020-12.")
    example = serializers.DictField(help_text="A payload.")


class SmartTagListSerializer(serializers.Serializer[Any]):
    smartTags = SmartTagSerializer(many=True, help_text="All of them.")
