"""The fields of a message, the source of its SQL, its response, the body of createMessage and their OpenAPI schemas.

To add an optional field: add it to `Message`, create the migration, and add a row to MESSAGE_FIELDS.

A message is joined with its author, its page, the message that it quotes, and the author of that message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import orjson
from django.db import models
from rest_framework import serializers
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    Field,
    IntegerField,
    UUIDField,
)

from kernel.api.fields import Id, ListOf, Text
from kernel.api.serializers import BodySerializer
from messaging.accounts.deleted import HEIRS, deleted_account
from messaging.accounts.serializers import AccountSerializer
from messaging.models import Message, MessageStatus
from messaging.models.message import (
    ANCHOR_TEXT_MAX,
    ATTACHMENT_URL_MAX,
    ATTACHMENTS_MAX,
    CONTENT_MAX,
    LANGUAGE_MAX,
    PAYLOAD_MAX,
    SOURCE_APP_MAX,
)
from messaging.pages.permalinks import PERMALINK_COLUMN
from messaging.posts.shown import is_public
from messaging.serializer_fields import ContextAnchorField, PageIdField, PageIdText, PayloadField, TagType, WebUrl

AUTHOR_COLUMNS = ("a.id AS author_id", "a.name", "a.handle", "a.kind")
# One look-up in an index for a post with a community. Not EXISTS, for which PostgreSQL may read the whole table first.
AUTHOR_ROLE_COLUMN = """CASE WHEN m.community_id IS NOT NULL THEN (
    SELECT 'moderator' FROM messaging_moderator r WHERE r.community_id = m.community_id AND r.account_id = m.author_id
) END AS author_role"""
PAGE_URL_COLUMN = "page.normalized_url AS page_url"
QUOTE_COLUMNS = (
    *("q.id AS quoted_id", "q.content AS quoted", "q.created_at AS quoted_at"),
    *("qa.id AS quoted_author_id", "qa.name", "qa.handle", "qa.kind"),
)
JOINS = f"""
    FROM messaging_message m
    JOIN messaging_account a ON a.id = m.author_id
    JOIN messaging_page page ON page.id = m.page_id
    LEFT JOIN messaging_message q ON q.id = m.quote_id AND {is_public("q")}
    LEFT JOIN messaging_account qa ON qa.id = q.author_id
"""


def account_from_row(row: Sequence[Any]) -> dict[str, Any]:
    """`{id, name, handle, kind}` from AUTHOR_COLUMNS."""
    if row[2] in HEIRS:
        return deleted_account(row[3])
    return {"id": row[0], "name": row[1], "handle": row[2], "kind": row[3]}


def quote_from_row(row: Sequence[Any]) -> dict[str, Any]:
    """`{id, content, author, createdAt}` from QUOTE_COLUMNS."""
    return {"id": row[0], "content": row[1], "author": account_from_row(row[3:]), "createdAt": row[2]}


ATTACHMENT_TYPE_MAX = 64


class AttachmentBody(BodySerializer):
    type = Text(max_length=ATTACHMENT_TYPE_MAX, help_text="Such as `image`.")
    url = WebUrl(cap=ATTACHMENT_URL_MAX, help_text="Never fetched.")


class AttachmentSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"type": "image", "url": "https://example.com/photo.jpg"}
    type = serializers.CharField(help_text="As sent.")
    url = serializers.CharField(help_text="As sent.")


class QuoteSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"content": "Well said."}
    id = serializers.UUIDField()
    content = serializers.CharField(help_text="Its text.")
    author = AccountSerializer()
    createdAt = serializers.DateTimeField()


# A role of an author.
MODERATOR = "moderator"
CAPITAL = re.compile(r"[A-Z]")


@dataclass(frozen=True)
class MessageField:
    """A field of a message in the API. `name` is camelCase; its model field has the same name in snake_case.

    `response` describes the field in responses, `body` validates it in createMessage; the `source` of `body` is the
    column. `select` lists SQL expressions that are read instead of a column; `from_select` converts them to a value.
    `has_word_lists`: the word lists of communities and embeds apply to the strings in it.
    """

    name: str
    response: Field
    body: Field | None = None
    select: tuple[str, ...] = ()
    from_select: Callable[[Any], Any] | None = None
    has_word_lists: bool = True

    @cached_property
    def column(self) -> str:
        return CAPITAL.sub(r"_\g<0>", self.name).lower()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.select or (f"m.{self.column}",)

    @cached_property
    def model_field(self) -> Any:
        return Message._meta.get_field(self.column)

    @cached_property
    def is_json(self) -> bool:
        return not self.select and isinstance(self.model_field, models.JSONField)

    @cached_property
    def is_long(self) -> bool:
        """Whether the size of a value may be more than some hundred bytes."""
        return not self.select and isinstance(self.model_field, (models.TextField, models.JSONField))

    @property
    def convert(self) -> Callable[[Any], Any] | None:
        """The function that converts the columns to the value; None if the value is the column itself."""
        return orjson.Fragment if self.is_json else self.from_select


MESSAGE_FIELDS = (
    MessageField("id", UUIDField()),
    MessageField(
        "url",
        CharField(help_text="The permalink."),
        select=(PERMALINK_COLUMN,),
    ),
    MessageField(
        "content",
        CharField(help_text="The text."),
        body=Text(required=False, allow_blank=True, cap=CONTENT_MAX, help_text="The text: plain, any language."),
    ),
    MessageField("status", ChoiceField(choices=MessageStatus.values, help_text="Lists have `published` posts only.")),
    MessageField("author", AccountSerializer(), select=AUTHOR_COLUMNS, from_select=account_from_row),
    MessageField(
        "authorRole",
        ChoiceField(
            choices=[MODERATOR],
            allow_null=True,
            help_text="`moderator`: the author moderates the community of the post.",
        ),
        select=(AUTHOR_ROLE_COLUMN,),
    ),
    MessageField(
        "pageId",
        PageIdField(),
        body=PageIdText(source="page_id", help_text="Of normalizeUrl."),
    ),
    MessageField("pageUrl", CharField(help_text="The normalised URL of the page."), select=(PAGE_URL_COLUMN,)),
    MessageField(
        "communityId",
        UUIDField(allow_null=True, help_text="null: no community."),
        body=Id(source="community_id", required=False, help_text="A community of the token, if it is limited."),
    ),
    MessageField(
        "parentId",
        UUIDField(allow_null=True, help_text="Of a reply."),
        body=Id(source="parent_id", required=False, help_text="Makes it a reply to this post."),
    ),
    MessageField(
        "quoteId",
        UUIDField(allow_null=True, help_text="Of a quote."),
        body=Id(source="quote_id", required=False, help_text="Makes it a quote of this post."),
    ),
    MessageField(
        "quote",
        QuoteSerializer(allow_null=True, help_text="The quoted post."),
        select=QUOTE_COLUMNS,
        from_select=quote_from_row,
    ),
    MessageField(
        "tagType",
        CharField(allow_null=True, help_text="The smart tag."),
        body=TagType(source="tag_type", required=False, help_text="Of listSmartTags."),
        has_word_lists=False,
    ),
    MessageField(
        "payload",
        DictField(allow_null=True, help_text="Of the smart tag."),
        body=PayloadField(required=False, cap=PAYLOAD_MAX, help_text="By the schema of the tag; at most 64 KB."),
    ),
    MessageField(
        "anchorText",
        CharField(allow_null=True, help_text="What the post is about."),
        body=Text(
            source="anchor_text",
            required=False,
            allow_blank=True,
            cap=ANCHOR_TEXT_MAX,
            help_text="Quoted from the page.",
        ),
    ),
    MessageField(
        "contextAnchor",
        DictField(allow_null=True, help_text="Where that text is."),
        body=ContextAnchorField(source="context_anchor", required=False, help_text="Stored as sent."),
        has_word_lists=False,
    ),
    MessageField(
        "attachments",
        AttachmentSerializer(many=True, help_text="As sent."),
        body=ListOf(child=AttachmentBody(), required=False, cap=ATTACHMENTS_MAX, help_text="Links to media."),
    ),
    MessageField(
        "language",
        CharField(allow_null=True, help_text="As sent."),
        body=Text(required=False, allow_blank=True, cap=LANGUAGE_MAX, help_text="Such as `en`."),
        has_word_lists=False,
    ),
    MessageField(
        "sourceApp",
        CharField(allow_null=True, help_text="As sent."),
        body=Text(
            source="source_app",
            required=False,
            allow_blank=True,
            cap=SOURCE_APP_MAX,
            help_text="The name of your program.",
        ),
        has_word_lists=False,
    ),
    MessageField("replyCount", IntegerField(help_text="Replies that are listed: published ones, and tombstones.")),
    MessageField("quoteCount", IntegerField(help_text="Published quotes.")),
    MessageField("reactionCounts", DictField(child=IntegerField(), help_text="By emoji.")),
    MessageField("reactionTotal", IntegerField(help_text="Of all emoji.")),
    MessageField(
        "importedScore",
        IntegerField(allow_null=True, help_text="The votes of an imported post."),
    ),
    MessageField(
        "imported",
        BooleanField(help_text="true: an import wrote it, with the author and the date that its file names."),
    ),
    MessageField("createdAt", DateTimeField()),
    MessageField("updatedAt", DateTimeField()),
    MessageField("editedAt", DateTimeField(allow_null=True, help_text="null: never.")),
)
# Required fields are first.
BODY_FIELDS = sorted(
    (field for field in MESSAGE_FIELDS if field.body), key=lambda field: not (field.body and field.body.required)
)
# The fields that are stored as sent; `create_message` sets the relations.
CONTENT_FIELDS = [field for field in BODY_FIELDS if not field.model_field.is_relation]
