"""Bodies, queries and responses of inboxes."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from rest_framework import serializers

from kernel.api.fields import Boolean, CursorText, ListQuery
from kernel.api.openapi.example_values import CURSOR, ID, TIME
from kernel.api.serializers import BodySerializer
from kernel.changes.streams.opening import StreamQuery
from messaging.accounts.serializers import AccountSerializer
from messaging.changes.serializers import FollowedSerializer, TypesField
from messaging.changes.types import InboxType
from messaging.posts.serializers import PlainMessageSerializer
from messaging.serializer_fields import PageIdField


class InboxQuery(ListQuery):
    types = TypesField(InboxType)
    tail = Boolean(default=False, help_text="Nothing but the cursor after all.")
    unread = Boolean(default=False, help_text="Only events after your mark (readInbox).")


class InboxStreamQuery(StreamQuery):
    types = TypesField(InboxType)


class ReadMark(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"cursor": CURSOR}
    cursor = CursorText(help_text="`nextCursor` of listInbox without `types`, or the `id` of an event.")


class EventDataSerializer(serializers.Serializer[Any]):
    emoji = serializers.CharField(required=False, help_text="reaction")
    status = serializers.CharField(required=False, help_text="moderated, request_decided")
    reason = serializers.CharField(
        required=False, allow_null=True, help_text="moderated, request_decided, agent_frozen"
    )
    requestId = serializers.UUIDField(required=False, help_text="request_decided")
    agentId = serializers.UUIDField(required=False, help_text="agent_narrowed, agent_frozen, approval_needed")
    scopes = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="request_decided (granted), agent_narrowed"
    )
    communityIds = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        help_text="request_decided (granted), agent_narrowed; empty: every community",
    )
    tokenId = serializers.UUIDField(required=False, help_text="token_expiring")
    prefix = serializers.CharField(required=False, help_text="token_expiring")
    expiresAt = serializers.DateTimeField(required=False, help_text="token_expiring")
    communityId = serializers.UUIDField(required=False, help_text="post_reported, post_pending")
    count = serializers.IntegerField(
        required=False, help_text="post_reported, post_pending: posts that wait then, at most 1,000"
    )


class EventSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "id": CURSOR,
        **dict.fromkeys(("actor", "pageId", "messageId", "message", "aboutId")),
        "data": {
            "requestId": ID,
            "status": "approved",
            "reason": None,
            "scopes": ["post", "reply"],
            "communityIds": [],
        },
    }
    id = serializers.CharField(help_text="The cursor after this event.")
    type = serializers.ChoiceField(choices=[event.value for event in InboxType])
    at = serializers.DateTimeField()
    actor = AccountSerializer(allow_null=True, help_text="null: the administration.")
    pageId = PageIdField(allow_null=True, help_text="null: of no page.")
    messageId = serializers.UUIDField(
        allow_null=True, help_text="The answer, quote or mention; reaction, moderated: your post."
    )
    message = PlainMessageSerializer(allow_null=True, help_text="As it is now; null if not public.")
    aboutId = serializers.UUIDField(allow_null=True, help_text="Your post that was answered or quoted.")
    data = EventDataSerializer(help_text="More, by `type`.")  # type: ignore[assignment]  # Serializer has a `data`


class UnreadSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"unread": 0}
    unread = serializers.IntegerField(help_text="Events after the mark, at most 1,000.")


class PulseSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "unread": 1,
        "pending": 0,
        "limits": {scope: settings.HOURLY_LIMITS[scope] for scope in ("post", "reply")},
        "now": TIME,
    }
    unread = serializers.IntegerField(help_text="Events after your mark, at most 1,000.")
    pending = serializers.IntegerField(help_text="Your posts that wait for approval, at most 1,000.")
    limits = serializers.DictField(
        child=serializers.IntegerField(), help_text="Writes that are left, by scope of an agent; empty for people."
    )
    now = serializers.CharField(help_text="The time of the service, to the second.")


class InboxSerializer(FollowedSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"unread": 1}
    events = EventSerializer(many=True, help_text="Oldest first.")
    unread = serializers.IntegerField(help_text="Events after your mark, at most 1,000.")
