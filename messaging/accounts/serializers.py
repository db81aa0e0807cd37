"""Queries, bodies and responses of accounts and of sessions."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.fields import Text
from kernel.api.openapi.example_values import ID, JWT
from kernel.api.serializers import BodySerializer
from messaging.accounts.deleted import HEIRS, deleted_account
from messaging.models import AccountKind
from messaging.models.account import HANDLE, HANDLE_MAX, HANDLE_MIN, NAME_MAX
from messaging.serializer_fields import Name

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


PASSWORD_MAX = 256
CODE_MAX = 32


class LoginBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"handle": "ada", "password": "a long enough passphrase"}
    handle = Text(max_length=HANDLE_MAX, help_text="Of the account.")
    password = Text(max_length=PASSWORD_MAX, help_text="Of the account.")
    code = Text(
        required=False,
        max_length=CODE_MAX,
        help_text="Of the second factor, or a recovery code.",
    )


class RegisterBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {
        "handle": "ada",
        "name": "Ada Lovelace",
        "password": "a long enough passphrase",
    }
    handle = Text(pattern=HANDLE, min_length=HANDLE_MIN, max_length=HANDLE_MAX, help_text="Unique, of a-z, 0-9 and _.")
    name = Name(max_length=NAME_MAX, help_text="Shown beside posts.")
    password = Text(max_length=PASSWORD_MAX, help_text="At least 8 characters, none of the common ones.")


class RefreshBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"refreshToken": JWT}
    refreshToken = Text(source="refresh_token", max_length=4096, help_text="From login or register.")


class SignInSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"accessToken": JWT, "refreshToken": JWT}
    accessToken = serializers.CharField(help_text="The sign-in JWT.")
    refreshToken = serializers.CharField(help_text="For refreshSession.")
    expiresAt = serializers.DateTimeField(help_text="Of the access token.")
    user = AccountSerializer()


class AccessSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"accessToken": JWT}
    accessToken = serializers.CharField(help_text="The sign-in JWT.")
    expiresAt = serializers.DateTimeField()


class SuccessSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"success": True}
    success = serializers.BooleanField(help_text="Always true.")


class EmbedTokenSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"token": JWT, "moderates": False}
    token = serializers.CharField(help_text="The user token.")
    userId = serializers.UUIDField(help_text="Send it as X-User-Id.")
    expiresAt = serializers.DateTimeField()
    moderates = serializers.BooleanField(help_text="Whether the person moderates a community.")


class PanelTokenSerializer(EmbedTokenSerializer):
    openapi_example: ClassVar[dict[str, Any]] = EmbedTokenSerializer.openapi_example | {"expiresIn": 900}
    expiresIn = serializers.IntegerField(help_text="Seconds it is valid.")
    user = AccountSerializer()
