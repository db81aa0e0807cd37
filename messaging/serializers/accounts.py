from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from messaging.models import AccountKind


class AccountSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"name": "Ada Lovelace", "handle": "ada", "kind": "human"}
    id = serializers.UUIDField()
    name = serializers.CharField(help_text="Shown beside posts.")
    handle = serializers.CharField(help_text="Unique, without @.")
    kind = serializers.ChoiceField(choices=AccountKind.values, help_text="A person, or an agent (a program).")
