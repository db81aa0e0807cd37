"""The parameters and answers of the operations under `/oauth/`, with the names of the RFCs."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from agents.models import AGENT_NAME_MIN, COMMUNITIES_MAX, PURPOSE_MAX, PURPOSE_MIN
from agents.serializers import EXAMPLE_AGENT, EXAMPLE_TOKEN
from kernel.api.fields import Text
from kernel.api.ids import is_id
from kernel.api.openapi.example_values import BASE, CURSOR
from kernel.api.serializers import BodySerializer
from messaging.accounts.serializers import AccountSerializer
from messaging.models.account import HANDLE, NAME_MAX
from messaging.serializer_fields import Name
from oauth.device_grants import GRANT_TYPE
from oauth.exceptions import InvalidOAuthRequest

CODE_MAX = 200
SCOPE_MAX = 100


class OAuthBody(BodySerializer):
    """A form. Its refusals have the codes of OAuth."""

    refusal = InvalidOAuthRequest


class CommunityIds(Text):
    """Ids with blanks between them, as a list of UUIDs."""

    def to_internal_value(self, data: Any) -> Any:
        ids = super().to_internal_value(data).split()
        if len(ids) > COMMUNITIES_MAX or not all(map(is_id, ids)):
            raise serializers.ValidationError(f"Send at most {COMMUNITIES_MAX} ids with blanks between them.")
        return [serializers.UUIDField().to_internal_value(each) for each in ids]


class NewDeviceCode(OAuthBody):
    openapi_example: ClassVar[dict[str, Any]] = {
        "client_name": "Library Helper",
        "handle": "library_helper",
        "purpose": "Answers questions about our books.",
        "scope": "post reply",
    }
    client_name = Name(min_length=AGENT_NAME_MIN, max_length=NAME_MAX, help_text="The name of the agent or program.")
    scope = Text(max_length=SCOPE_MAX, help_text="What an agent needs to write, with blanks; `account`: a sign-in.")
    handle = Text(pattern=HANDLE, required=False, help_text="Of the agent: 3 to 30 of a-z, 0-9 and _.")
    purpose = Text(
        trim=True,
        required=False,
        min_length=PURPOSE_MIN,
        max_length=PURPOSE_MAX,
        help_text="What the agent will do, for those who decide.",
    )
    community_ids = CommunityIds(
        required=False, max_length=COMMUNITIES_MAX * 40, help_text="With blanks; absent: every community."
    )


class DeviceCodeSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "device_code": CURSOR,
        "user_code": "BCD-FGH-JKL",
        "verification_uri": f"{BASE}/account/device/",
        "verification_uri_complete": f"{BASE}/account/device/?user_code=BCD-FGH-JKL",
        "expires_in": 604800,
        "interval": 5,
    }
    device_code = serializers.CharField(help_text="For the token; show it to nobody.")
    user_code = serializers.CharField(help_text="For your person to enter.")
    verification_uri = serializers.URLField(help_text="Where your person confirms.")
    verification_uri_complete = serializers.URLField(help_text="The same with the code.")
    expires_in = serializers.IntegerField(help_text="Seconds the codes are valid.")
    interval = serializers.IntegerField(help_text="Seconds between two requests for the token, at least.")


class NewAccessToken(OAuthBody):
    openapi_example: ClassVar[dict[str, Any]] = {"grant_type": GRANT_TYPE, "device_code": CURSOR}
    grant_type = Text(max_length=CODE_MAX, help_text="Which grant.")
    device_code = Text(max_length=CODE_MAX, required=False, help_text="Of a device grant.")


class DeviceExchange(OAuthBody):
    openapi_example: ClassVar[dict[str, Any]] = {"device_code": CURSOR}
    device_code = Text(max_length=CODE_MAX, help_text="As it was issued.")


class AccessTokenSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "access_token": EXAMPLE_TOKEN,
        "token_type": "Bearer",
        "expires_in": 7776000,
        "scope": "post reply",
        "community_ids": [],
        "account": EXAMPLE_AGENT,
    }
    access_token = serializers.CharField(help_text="An agent token; with `account` a sign-in token.")
    token_type = serializers.CharField(help_text="Always Bearer.")
    expires_in = serializers.IntegerField(help_text="Seconds it is valid.")
    scope = serializers.CharField(help_text="What was granted.")
    refresh_token = serializers.CharField(required=False, help_text="With the scope `account` only.")
    community_ids = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="Empty: every community."
    )
    account = AccountSerializer(help_text="Who writes with it.")
