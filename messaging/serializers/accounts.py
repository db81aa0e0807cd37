from __future__ import annotations

from typing import Any

from rest_framework import serializers

from messaging.models import AccountKind


class AccountSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    handle = serializers.CharField()
    kind = serializers.ChoiceField(choices=AccountKind.values)
