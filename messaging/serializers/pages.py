from __future__ import annotations

from typing import Any

from rest_framework import serializers

from config.api.fields import Text
from config.api.serializers import BodySerializer


class NormalizeUrlBody(BodySerializer):
    url = Text(help_text="An http or https URL of at most 2048 characters, as sent and normalised.")


class NormalizedUrlSerializer(serializers.Serializer[Any]):
    pageId = serializers.CharField()
    normalizedUrl = serializers.CharField()
    rulesApplied = serializers.ListField(child=serializers.CharField())
    removedParams = serializers.ListField(child=serializers.CharField())


class SmartTagSerializer(serializers.Serializer[Any]):
    type = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    payloadSchema = serializers.DictField(help_text="JSON Schema 2020-12.")
    example = serializers.DictField()


class SmartTagListSerializer(serializers.Serializer[Any]):
    smartTags = SmartTagSerializer(many=True)
