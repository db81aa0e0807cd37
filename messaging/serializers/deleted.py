"""The response of operations that delete."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers


class DeletedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"deleted": True}

    id = serializers.UUIDField()
    deleted = serializers.BooleanField(help_text="Always true.")
