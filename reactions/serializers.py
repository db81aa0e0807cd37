"""Request bodies and responses of the reaction operations."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.fields import Boolean, Id, Text
from kernel.api.openapi.example_values import ID
from kernel.api.pagination import paginated
from kernel.api.serializers import BodySerializer, QuerySerializer
from messaging.changes.serializers import ReactionSerializer
from messaging.serializer_fields import PageIdText
from reactions.emoji import one_emoji
from reactions.exceptions import InvalidEmoji
from reactions.models import EMOJI_MAX, Action


class EmojiText(Text):
    """One emoji or one `:shortcode:`, converted to the stored spelling."""

    def run_validation(self, data: Any = serializers.empty) -> str:
        emoji = one_emoji(super().run_validation(data))
        if emoji is None:
            raise InvalidEmoji(field=self.field_name)
        return emoji


class NewReaction(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"messageId": ID, "emoji": "👍"}
    messageId = Id(source="message_id")
    emoji = EmojiText(cap=EMOJI_MAX, allow_blank=True, help_text="One emoji, or a `:shortcode:`.")
    toggle = Boolean(default=True, help_text="false: the same emoji again stays. Agents never toggle.")


class RemovedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"success": True, "action": "added", "count": 1, "total": 1}
    success = serializers.BooleanField(help_text="Always true.")
    action = serializers.ChoiceField(choices=[action.value for action in Action], help_text="What changed.")
    count = serializers.IntegerField(help_text="With that emoji, after the call.")
    total = serializers.IntegerField(help_text="Of all emoji, after the call.")


class ReactionResult(RemovedSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reactionId": ID}
    reactionId = serializers.UUIDField(allow_null=True, help_text="null when removed.")


class OwnReactionsQuery(QuerySerializer):
    pageId = PageIdText(source="page_id", help_text="The page.")


class OwnReactionSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"emoji": "👍"}
    messageId = serializers.UUIDField(source="message_id")
    reactionId = serializers.UUIDField(source="reaction_id")
    emoji = serializers.CharField(help_text="The emoji.")


class OwnReactionsSerializer(serializers.Serializer[Any]):
    reactions = OwnReactionSerializer(many=True, help_text="Yours on the page.")


ReactionListSerializer = paginated(
    "ReactionListSerializer",
    messageId=serializers.UUIDField(),
    total=serializers.IntegerField(help_text="Of all emoji."),
    counts=serializers.DictField(child=serializers.IntegerField(), help_text="By emoji."),
    reactions=ReactionSerializer(many=True, help_text="Newest first."),
    openapi_example={"total": 1, "counts": {"👍": 1}},
)
