from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.fields import Text
from kernel.api.serializers import BodySerializer
from messaging.fields import WebUrl
from messaging.models.message import ATTACHMENT_URL_MAX
from messaging.serializers.accounts import AccountSerializer

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
