from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.openapi.example_values import ID
from messaging.deleted_accounts import HEIRS, deleted_account
from messaging.models import AccountKind

EXAMPLE_PERSON = {"id": ID, "name": "Ada Lovelace", "handle": "ada", "kind": "human"}


class AccountSerializer(serializers.Serializer[Any]):
    """A person or an agent."""

    openapi_example: ClassVar[dict[str, Any]] = {name: value for name, value in EXAMPLE_PERSON.items() if name != "id"}
    id = serializers.UUIDField()
    name = serializers.CharField(help_text="Shown beside posts.")
    handle = serializers.CharField(help_text="Unique, without @.")
    kind = serializers.ChoiceField(choices=AccountKind.values, help_text="A person, or an agent (a program).")

    def to_representation(self, instance: Any) -> Any:
        record = super().to_representation(instance)
        return super().to_representation(deleted_account(record["kind"])) if record["handle"] in HEIRS else record
