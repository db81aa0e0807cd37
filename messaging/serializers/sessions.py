from __future__ import annotations

from typing import Any

from rest_framework import serializers

from config.api.fields import Text
from config.api.serializers import BodySerializer
from messaging.fields import Name
from messaging.models.account import HANDLE, HANDLE_MAX, HANDLE_MIN, NAME_MAX, NAME_MIN
from messaging.serializers.accounts import AccountSerializer

PASSWORD_MAX = 256


class LoginBody(BodySerializer):
    handle = Text(max_length=HANDLE_MAX)
    password = Text(max_length=PASSWORD_MAX)


class RegisterBody(BodySerializer):
    handle = Text(pattern=HANDLE, min_length=HANDLE_MIN, max_length=HANDLE_MAX)
    name = Name(min_length=NAME_MIN, max_length=NAME_MAX)
    password = Text(max_length=PASSWORD_MAX)


class RefreshBody(BodySerializer):
    refreshToken = Text(source="refresh_token", max_length=4096)


class SignInSerializer(serializers.Serializer[Any]):
    accessToken = serializers.CharField()
    refreshToken = serializers.CharField()
    expiresAt = serializers.DateTimeField(help_text="When the access token expires.")
    user = AccountSerializer()


class AccessSerializer(serializers.Serializer[Any]):
    accessToken = serializers.CharField()
    expiresAt = serializers.DateTimeField()


class LoggedOutSerializer(serializers.Serializer[Any]):
    success = serializers.BooleanField()


class EmbedTokenSerializer(serializers.Serializer[Any]):
    token = serializers.CharField()
    userId = serializers.UUIDField(help_text="Send it as X-User-Id.")
    expiresAt = serializers.DateTimeField()
