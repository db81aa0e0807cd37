"""Bodies, queries and responses of the operations on messages. The fields of a message are those of MESSAGE_FIELDS."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from rest_framework import serializers

from config.api.exceptions import InvalidInput
from config.api.fields import Boolean, Choice, Id, ListQuery, Text
from config.api.pagination import paginated
from config.api.serializers import BodySerializer
from messaging import smart_tags
from messaging.exceptions import EmptyMessage, InvalidPayload
from messaging.models import AccountKind
from messaging.queries.message_fields import BODY_FIELDS, MESSAGE_FIELDS
from messaging.queries.message_orders import Sort

TAG_TYPES = sorted(smart_tags.SMART_TAGS)


class NewMessage(BodySerializer):
    """A post; with `parentId` a reply, with `quoteId` a quote."""

    # Copied in the order of the field table, because DRF sorts fields by creation.
    locals().update({field.name: deepcopy(field.body) for field in BODY_FIELDS})

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        given = (attrs.get(column) for column in ("tag_type", "attachments", "quote_id"))
        if not attrs.get("content", "").strip() and not any(given):
            raise EmptyMessage
        _validate_tag(attrs.get("tag_type"), attrs.get("payload"))
        return attrs


class MessagesQuery(ListQuery):
    pageId = Text(source="page_id")
    parentId = Id(source="parent_id", required=False, help_text="List the replies to this post.")
    includeTopReply = Boolean(source="include_top_reply", default=False, help_text="Add `topReply` to each message.")
    authorKind = Choice(source="author_kind", choices=AccountKind.values, required=False)
    communityId = Id(source="community_id", required=False)
    tagType = Text(source="tag_type", required=False)
    sort = Choice(
        choices=[sort.value for sort in Sort],
        default=Sort.NEWEST,
        help_text="`reactions`: most reactions first, then newest.",
    )


class PlainMessageSerializer(serializers.Serializer[Any]):
    locals().update({field.name: field.response for field in MESSAGE_FIELDS})


class MessageSerializer(PlainMessageSerializer):
    topReply = PlainMessageSerializer(
        allow_null=True, required=False, help_text="With `includeTopReply=true`: most reactions, then oldest."
    )


MessageListSerializer = paginated("MessageListSerializer", messages=MessageSerializer(many=True))


def _validate_tag(tag_type: str | None, payload: dict[str, Any] | None) -> None:
    if tag_type is None:
        if payload is not None:
            raise InvalidInput(
                "Send a tagType beside the payload: GET /v1/smart-tags lists them.", field="tagType", allowed=TAG_TYPES
            )
        return
    if not smart_tags.is_known(tag_type):
        raise InvalidInput(
            "Send as tagType one of `allowed`: GET /v1/smart-tags describes them.", field="tagType", allowed=TAG_TYPES
        )
    problems = smart_tags.validate_payload(tag_type, payload or {})
    if problems:
        raise InvalidPayload(
            field="payload",
            details=[{"pointer": f"/payload{problem.pointer}", "message": problem.message} for problem in problems],
        )
