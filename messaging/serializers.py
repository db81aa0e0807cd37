"""What the operations of messaging take and give. camelCase lives here and nowhere else.

Answers are rendered by `messaging.records`; the serializers of answers describe them for OpenAPI, and the tests hold
the two together.
"""

from __future__ import annotations

from typing import Any

import orjson
from ada_url import URL
from rest_framework import serializers

from config.api.errors import PayloadTooLarge
from config.api.fields import (
    BodySerializer,
    Boolean,
    Choice,
    Id,
    ListOf,
    ListQuery,
    Object,
    Text,
)
from messaging.fields import Name
from messaging.models import AccountKind, MessageStatus
from messaging.models.account import HANDLE, HANDLE_MAX, HANDLE_MIN, NAME_MAX, NAME_MIN
from messaging.models.message import (
    ANCHOR_TEXT_MAX,
    ATTACHMENT_URL_MAX,
    ATTACHMENTS_MAX,
    CONTENT_MAX,
    LANGUAGE_MAX,
    PAYLOAD_MAX,
    SOURCE_APP_MAX,
)
from messaging.smart_tags import RATIONALE_MAX

CONTEXT_ANCHOR_MAX = 65_536
ATTACHMENT_TYPE_MAX = 64
PASSWORD_MAX = 256


class WebUrl(Text):
    """An http or https URL with a host and without user info; never fetched."""

    default_error_messages = {"url": "Not an http or https URL with a host and without user info."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            parsed = URL(text)
        except ValueError:
            self.fail("url")
        # Stricter than browsers, whose parsers also take blanks around it, missing slashes and an empty authority.
        scheme, _, rest = text.partition("://")
        authority = rest.partition("/")[0]
        if scheme.lower() not in {"http", "https"} or not authority or "@" in authority or not parsed.hostname:
            self.fail("url")
        if parsed.username or parsed.password or " " in text or not text.isprintable():
            self.fail("url")
        return text


class AttachmentBody(BodySerializer):
    type = Text(max_length=ATTACHMENT_TYPE_MAX)
    url = WebUrl(cap=ATTACHMENT_URL_MAX)


class PayloadField(Object):
    """A smart tag's payload: the whole is capped in bytes, its `rationale` in characters."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        payload = super().to_internal_value(data)
        rationale = payload.get("rationale")
        if isinstance(rationale, str) and len(rationale) > RATIONALE_MAX:
            raise PayloadTooLarge(field="payload.rationale", max=RATIONALE_MAX)
        return payload


class ContextAnchorField(Object):
    default_error_messages = {"too_large": "Over {max} bytes of JSON."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        anchor = super().to_internal_value(data)
        if len(orjson.dumps(anchor)) > CONTEXT_ANCHOR_MAX:
            self.fail("too_large", max=CONTEXT_ANCHOR_MAX)
        return anchor


class NewMessage(BodySerializer):
    """A post; with `parentId` a reply, with `quoteId` a quote."""

    pageId = Text(source="page_id", help_text="As handed out by POST /v1/presence/normalize-url.")
    content = Text(required=False, allow_blank=True, cap=CONTENT_MAX)
    communityId = Id(source="community_id", required=False)
    parentId = Id(source="parent_id", required=False)
    quoteId = Id(source="quote_id", required=False)
    tagType = Text(source="tag_type", required=False, help_text="See GET /v1/smart-tags.")
    payload = PayloadField(required=False, cap=PAYLOAD_MAX)
    anchorText = Text(source="anchor_text", required=False, allow_blank=True, cap=ANCHOR_TEXT_MAX)
    contextAnchor = ContextAnchorField(source="context_anchor", required=False)
    attachments = ListOf(child=AttachmentBody(), required=False, cap=ATTACHMENTS_MAX)
    language = Text(required=False, allow_blank=True, cap=LANGUAGE_MAX)
    sourceApp = Text(source="source_app", required=False, allow_blank=True, cap=SOURCE_APP_MAX)


class MessagesQuery(ListQuery):
    pageId = Text(source="page_id")
    parentId = Id(source="parent_id", required=False, help_text="List the replies to this post.")
    includeTopReply = Boolean(source="include_top_reply", default=False, help_text="Add `topReply` to each message.")
    authorKind = Choice(source="author_kind", choices=AccountKind.values, required=False)
    communityId = Id(source="community_id", required=False)
    tagType = Text(source="tag_type", required=False)


class NormalizeUrlBody(BodySerializer):
    url = Text(help_text="An http or https URL of at most 2048 characters, as sent and normalised.")


class AccountRecord(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    handle = serializers.CharField()
    kind = serializers.ChoiceField(choices=AccountKind.values)


class QuoteRecord(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    content = serializers.CharField()
    author = AccountRecord()
    createdAt = serializers.DateTimeField()


class AttachmentRecord(serializers.Serializer[Any]):
    type = serializers.CharField()
    url = serializers.CharField()


class PlainMessageRecord(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    content = serializers.CharField()
    status = serializers.ChoiceField(choices=MessageStatus.values)
    author = AccountRecord()
    pageId = serializers.CharField()
    communityId = serializers.UUIDField(allow_null=True)
    parentId = serializers.UUIDField(allow_null=True)
    quoteId = serializers.UUIDField(allow_null=True)
    quote = QuoteRecord(allow_null=True)
    tagType = serializers.CharField(allow_null=True)
    payload = serializers.DictField(allow_null=True)
    anchorText = serializers.CharField(allow_null=True)
    contextAnchor = serializers.DictField(allow_null=True)
    attachments = AttachmentRecord(many=True)
    language = serializers.CharField(allow_null=True)
    sourceApp = serializers.CharField(allow_null=True)
    replyCount = serializers.IntegerField()
    quoteCount = serializers.IntegerField()
    reactionCounts = serializers.DictField(child=serializers.IntegerField())
    reactionTotal = serializers.IntegerField()
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class MessageRecord(PlainMessageRecord):
    topReply = PlainMessageRecord(
        allow_null=True, required=False, help_text="With `includeTopReply=true`: most reactions, then oldest."
    )


class MessageListRecord(serializers.Serializer[Any]):
    messages = MessageRecord(many=True)
    hasMore = serializers.BooleanField()
    nextCursor = serializers.CharField(allow_null=True)


class NormalizedUrlRecord(serializers.Serializer[Any]):
    pageId = serializers.CharField()
    normalizedUrl = serializers.CharField()
    rulesApplied = serializers.ListField(child=serializers.CharField())
    removedParams = serializers.ListField(child=serializers.CharField())


class SmartTagRecord(serializers.Serializer[Any]):
    type = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    payloadSchema = serializers.DictField(help_text="JSON Schema 2020-12.")
    example = serializers.DictField()


class SmartTagListRecord(serializers.Serializer[Any]):
    smartTags = SmartTagRecord(many=True)


class LoginBody(BodySerializer):
    handle = Text(max_length=HANDLE_MAX)
    password = Text(max_length=PASSWORD_MAX)


class RegisterBody(BodySerializer):
    handle = Text(pattern=HANDLE, min_length=HANDLE_MIN, max_length=HANDLE_MAX)
    name = Name(min_length=NAME_MIN, max_length=NAME_MAX)
    password = Text(max_length=PASSWORD_MAX)


class RefreshBody(BodySerializer):
    refreshToken = Text(source="refresh_token", max_length=4096)


class SignInRecord(serializers.Serializer[Any]):
    accessToken = serializers.CharField()
    refreshToken = serializers.CharField()
    expiresAt = serializers.DateTimeField(help_text="When the access token ends.")
    user = AccountRecord()


class AccessRecord(serializers.Serializer[Any]):
    accessToken = serializers.CharField()
    expiresAt = serializers.DateTimeField()


class LoggedOutRecord(serializers.Serializer[Any]):
    success = serializers.BooleanField()


class EmbedTokenRecord(serializers.Serializer[Any]):
    token = serializers.CharField()
    userId = serializers.UUIDField(help_text="Send it as X-User-Id.")
    expiresAt = serializers.DateTimeField()
