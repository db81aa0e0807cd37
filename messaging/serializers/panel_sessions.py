from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from messaging.serializers.accounts import AccountSerializer
from messaging.serializers.sessions import EmbedTokenSerializer


class PanelTokenSerializer(EmbedTokenSerializer):
    openapi_example: ClassVar[dict[str, Any]] = EmbedTokenSerializer.openapi_example | {"expiresIn": 900}
    expiresIn = serializers.IntegerField(help_text="Seconds it is valid.")
    user = AccountSerializer()
