from __future__ import annotations

from typing import Any

from rest_framework import serializers

from config.api.fields import Text
from config.api.serializers import BodySerializer
from messaging.fields import WebUrl
from messaging.models.message import ATTACHMENT_URL_MAX
from messaging.serializers.accounts import AccountSerializer

ATTACHMENT_TYPE_MAX = 64


class AttachmentBody(BodySerializer):
    type = Text(max_length=ATTACHMENT_TYPE_MAX)
    url = WebUrl(cap=ATTACHMENT_URL_MAX)


class AttachmentSerializer(serializers.Serializer[Any]):
    type = serializers.CharField()
    url = serializers.CharField()


class QuoteSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    content = serializers.CharField()
    author = AccountSerializer()
    createdAt = serializers.DateTimeField()
