from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.fields import Id, Text
from kernel.api.openapi.example_values import ID
from kernel.api.serializers import BodySerializer
from messaging.serializer_fields import EXAMPLE_PAGE_URL, PageUrl
from moving.old_links import ANCHOR_MAX


class ImportedPostBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"embedId": ID, "url": EXAMPLE_PAGE_URL, "anchor": "comment-501"}
    embedId = Id(source="embed_id", help_text="Of its community.")
    url = PageUrl(help_text="The page.")
    anchor = Text(max_length=ANCHOR_MAX, help_text="The fragment of the old link, without `#`.")


class ImportedPostSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"messageId": ID}
    messageId = serializers.UUIDField(
        source="message_id", allow_null=True, help_text="null: no imported post of the page has this anchor."
    )
