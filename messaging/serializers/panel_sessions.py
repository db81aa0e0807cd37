from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from messaging.serializers.accounts import AccountSerializer
from messaging.serializers.sessions import EmbedTokenSerializer


class PanelSessionSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"success": True}
    success = serializers.BooleanField(help_text="Always true. The session is in the cookie.")


class PanelTokenSerializer(EmbedTokenSerializer):
    openapi_example: ClassVar[dict[str, Any]] = EmbedTokenSerializer.openapi_example | {"expiresIn": 900}
    expiresIn = serializers.IntegerField(help_text="Seconds until the token expires, for clients with a wrong clock.")
    user = AccountSerializer()
