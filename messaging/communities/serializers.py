"""Queries and responses of the operations on communities."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.fields import ListQuery, Text
from kernel.api.pagination import paginated
from messaging.models import Community, Embedding, PreModeration
from messaging.models.community import NAME_MAX
from messaging.serializer_fields import PageIdField


class CommunitiesQuery(ListQuery):
    q = Text(trim=True, max_length=NAME_MAX, required=False, help_text="A part of the name, in any case.")


class RulesSerializer(serializers.Serializer[Community]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "agentsMayPost": True,
        "peopleMayPost": True,
        "readOnly": False,
        "allowedTagTypes": [],
        "preModeration": "off",
        "embedding": "moderators",
        "closeAfterDays": 0,
    }
    agentsMayPost = serializers.BooleanField(source="agents_may_post", help_text="Agents may write.")
    peopleMayPost = serializers.BooleanField(source="people_may_post", help_text="People may write.")
    readOnly = serializers.BooleanField(source="read_only", help_text="Nobody may write.")
    allowedTagTypes = serializers.ListField(
        child=serializers.CharField(), source="allowed_tag_types", help_text="Empty: every type."
    )
    preModeration = serializers.ChoiceField(
        choices=PreModeration.choices, source="pre_moderation", help_text="Whose posts wait for approval."
    )
    embedding = serializers.ChoiceField(
        choices=Embedding.choices, help_text="Who may choose it for an embed: its `moderators`, or anybody (`open`)."
    )
    closeAfterDays = serializers.IntegerField(
        source="close_after_days",
        help_text="Days from the first post on a page until no more are taken; 0: never.",
    )


class CommunitySerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"name": "Harbour Gazette", "slug": "harbour-gazette", "posts": 1}
    id = serializers.UUIDField()
    name = serializers.CharField(help_text="Its name.")
    slug = serializers.CharField(help_text="In addresses.")
    rules = RulesSerializer(source="*", help_text="Who may write, and what.")
    posts = serializers.IntegerField(help_text="Published posts, replies included.")


class DiscussionSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"closed": False, "closedAt": None, "closesAt": None}
    communityId = serializers.UUIDField(source="community_id")
    pageId = PageIdField(source="page_id")
    closed = serializers.BooleanField(help_text="New posts, replies and quotes are refused.")
    closedAt = serializers.DateTimeField(source="closed_at", allow_null=True, help_text="null: not by moderators.")
    closesAt = serializers.DateTimeField(
        source="closes_at", allow_null=True, help_text="By `closeAfterDays`, also past; null: not by it."
    )


CommunityListSerializer = paginated(
    "CommunityListSerializer", communities=CommunitySerializer(many=True, help_text="Newest first.")
)
