"""Queries, bodies and responses of the operations on posts."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.fields import Boolean, Choice, Id, ListQuery, Text
from kernel.api.openapi.example_values import BASE, ID
from kernel.api.pagination import paginated
from kernel.api.serializers import QuerySerializer, SpelledBodySerializer
from messaging.models import AccountKind, MessageStatus
from messaging.posts.lists import Sort
from messaging.posts.message_fields import BODY_FIELDS, MESSAGE_FIELDS
from messaging.posts.queries import MODERATORS, OPERATOR
from messaging.serializer_fields import EXAMPLE_PAGE_ID, EXAMPLE_PAGE_URL, PageIdText
from messaging.validation import require_content, require_tag


class DeletedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"deleted": True}

    id = serializers.UUIDField()
    deleted = serializers.BooleanField(help_text="Always true.")


EDITABLE = ("content", "payload", "anchorText", "language")
# A dry run has no id and no address.
IDENTITY = ("id", "url")


class PostBody(SpelledBodySerializer):
    elsewhere: ClassVar[Mapping[str, str]] = {
        "dryrun": "Send no `dryRun` in the body: checkMessage (POST /api/messages/check) only checks a post."
    }


class MessageText(PostBody):
    """What an author may edit. An absent field stays as it is."""

    openapi_example: ClassVar[dict[str, Any]] = {"content": "Well said."}
    locals().update({field.name: deepcopy(field.body) for field in BODY_FIELDS if field.name in EDITABLE})


class NewMessage(PostBody):
    """A post; with `parentId` a reply, with `quoteId` a quote."""

    openapi_base = MessageText
    openapi_example: ClassVar[dict[str, Any]] = {"pageId": EXAMPLE_PAGE_ID, "content": "Well said."}

    # Copied in the order of the field table, because DRF sorts fields by creation.
    locals().update({field.name: deepcopy(field.body) for field in BODY_FIELDS})

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        require_content(attrs)
        require_tag(attrs.get("tag_type"), attrs.get("payload"))
        return attrs


class MessageQuery(QuerySerializer):
    embedId = Id(source="embed_id", required=False, help_text="What this embed shows.")


class MessagesQuery(MessageQuery, ListQuery):
    pageId = PageIdText(source="page_id", help_text="The page.")
    parentId = Id(source="parent_id", required=False, help_text="Its replies.")
    includeTopReply = Boolean(source="include_top_reply", default=False, help_text="Add `topReply`.")
    authorKind = Choice(source="author_kind", choices=AccountKind.values, required=False, help_text="By whom.")
    communityId = Id(source="community_id", required=False, help_text="Of one community.")
    tagType = Text(source="tag_type", required=False, help_text="Of one smart tag.")
    sort = Choice(
        choices=[sort.value for sort in Sort],
        default=Sort.NEWEST,
        help_text="`reactions`: most first, then newest.",
    )


# A message in the examples, without what identifies it.
EXAMPLE_MESSAGE: dict[str, Any] = {
    "content": "Well said.",
    "status": "published",
    "pageUrl": EXAMPLE_PAGE_URL,
    **dict.fromkeys(("authorRole", "communityId", "parentId", "quoteId", "quote", "tagType", "payload")),
    **dict.fromkeys(("anchorText", "contextAnchor", "language", "sourceApp", "importedScore", "editedAt")),
    **dict.fromkeys(("replyCount", "quoteCount", "reactionTotal"), 0),
    "attachments": [],
    "reactionCounts": {},
    "imported": False,
}


class PendingFor(serializers.ChoiceField):
    """The optional field of the posts that an account writes and lists itself."""

    def __init__(self) -> None:
        super().__init__(
            choices=[OPERATOR, MODERATORS],
            required=False,
            help_text="Of your own post that is `pending`: who decides.",
        )


class DraftSerializer(serializers.Serializer[Any]):
    """A message that was checked and not written."""

    openapi_example: ClassVar[dict[str, Any]] = EXAMPLE_MESSAGE
    locals().update({field.name: field.response for field in MESSAGE_FIELDS if field.name not in IDENTITY})


class PlainMessageSerializer(DraftSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"url": f"{BASE}/p/{ID}"}
    locals().update({field.name: field.response for field in MESSAGE_FIELDS if field.name in IDENTITY})


class MessageSerializer(PlainMessageSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"topReply": None}
    topReply = PlainMessageSerializer(
        allow_null=True, required=False, help_text="With `includeTopReply=true`: most reactions, then oldest."
    )
    pendingFor = PendingFor()
    pinned = serializers.BooleanField(required=False, help_text="In lists with `embedId`: first of all posts.")


class RemainingSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"counter": "post", "limit": 30, "remaining": 29}

    counter = serializers.CharField(help_text="What is counted.")
    limit = serializers.IntegerField(help_text="Writes an hour.")
    remaining = serializers.IntegerField(help_text="Writes left; a dry run is not charged.")


class DryRunSerializer(serializers.Serializer[Any]):
    """What createMessage would do."""

    openapi_example: ClassVar[dict[str, Any]] = {"wouldBe": "published", "limits": []}

    wouldBe = serializers.ChoiceField(
        choices=[MessageStatus.PUBLISHED.value, MessageStatus.PENDING.value],
        help_text="`pending`: for approval.",
    )
    pendingFor = PendingFor()
    message = DraftSerializer()
    limits = RemainingSerializer(many=True, help_text="Of agents.")


MessageListSerializer = paginated(
    "MessageListSerializer", messages=MessageSerializer(many=True, help_text="In the order of the list.")
)
