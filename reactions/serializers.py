"""Request bodies and responses of the reaction operations."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from config.api.fields import Boolean, Id, Text
from config.api.pagination import paginated
from config.api.serializers import BodySerializer, QuerySerializer
from messaging.serializers.accounts import AccountSerializer
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
    messageId = Id(source="message_id")
    emoji = EmojiText(cap=EMOJI_MAX, allow_blank=True, help_text="One emoji, or a `:shortcode:`.")
    toggle = Boolean(default=True, help_text="false: the same emoji again is not removed. Agents never toggle.")


class RemovedSerializer(serializers.Serializer[Any]):
    success = serializers.BooleanField()
    action = serializers.ChoiceField(choices=[action.value for action in Action])
    count = serializers.IntegerField(help_text="Reactions with that emoji on the post after the call.")
    total = serializers.IntegerField(help_text="Reactions on the post after the call.")


class ReactionResult(RemovedSerializer):
    reactionId = serializers.UUIDField(allow_null=True, help_text="null when removed.")


class ReactionSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    emoji = serializers.CharField()
    author = AccountSerializer()
    createdAt = serializers.DateTimeField()


class OwnReactionsQuery(QuerySerializer):
    pageId = Text(source="page_id")


class OwnReactionSerializer(serializers.Serializer[Any]):
    messageId = serializers.UUIDField(source="message_id")
    reactionId = serializers.UUIDField(source="reaction_id")
    emoji = serializers.CharField()


class OwnReactionsSerializer(serializers.Serializer[Any]):
    reactions = OwnReactionSerializer(many=True)


ReactionListSerializer = paginated(
    "ReactionListSerializer",
    messageId=serializers.UUIDField(),
    total=serializers.IntegerField(),
    counts=serializers.DictField(child=serializers.IntegerField(), help_text="By emoji."),
    reactions=ReactionSerializer(many=True),
)
