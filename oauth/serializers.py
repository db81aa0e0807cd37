"""The parameters and answers of the operations under `/oauth/`, with the names of the RFCs."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from agents.models import AGENT_NAME_MIN, COMMUNITIES_MAX, PURPOSE_MAX, PURPOSE_MIN, Scope
from agents.serializers import EXAMPLE_AGENT, EXAMPLE_TOKEN
from kernel.api.fields import Text
from kernel.api.ids import is_id
from kernel.api.openapi.example_values import BASE, CURSOR, ID
from kernel.api.serializers import BodySerializer
from messaging.accounts.serializers import AccountSerializer
from messaging.models.account import HANDLE, NAME_MAX
from messaging.serializer_fields import Name
from oauth.device_grants import GRANT_TYPE
from oauth.exceptions import InvalidOAuthRequest
from oauth.models import NAME_OF_CLIENT_MAX, URI_MAX, URIS_MAX, CodeGrant

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
    code = Text(max_length=CODE_MAX, required=False, help_text="Of the redirect.")
    code_verifier = Text(max_length=CODE_MAX, required=False, help_text="What the S256 challenge was made of.")
    redirect_uri = Text(max_length=URI_MAX, required=False, help_text="As it was sent for the code.")
    refresh_token = Text(max_length=CODE_MAX, required=False, help_text="Each works once.")
    client_id = Text(max_length=URI_MAX, required=False, help_text="From the registration.")
    resource = Text(max_length=URI_MAX, required=False, help_text="The address of this MCP server.")


class DeviceExchange(OAuthBody):
    openapi_example: ClassVar[dict[str, Any]] = {"device_code": CURSOR}
    device_code = Text(max_length=CODE_MAX, help_text="As it was issued.")


class CodeExchange(OAuthBody):
    openapi_example: ClassVar[dict[str, Any]] = {}
    code = Text(max_length=CODE_MAX, help_text="Of the redirect.")
    client_id = Text(max_length=URI_MAX, help_text="From the registration.")
    code_verifier = Text(max_length=CODE_MAX, help_text="What the S256 challenge was made of.")
    redirect_uri = Text(max_length=URI_MAX, help_text="As it was sent for the code.")
    resource = Text(max_length=URI_MAX, required=False, help_text="The address of this MCP server.")


class RefreshExchange(OAuthBody):
    openapi_example: ClassVar[dict[str, Any]] = {}
    refresh_token = Text(max_length=CODE_MAX, help_text="Each works once.")
    client_id = Text(max_length=URI_MAX, help_text="From the registration.")
    resource = Text(max_length=URI_MAX, required=False, help_text="The address of this MCP server.")


class NewClient(OAuthBody):
    openapi_example: ClassVar[dict[str, Any]] = {
        "client_name": "Example Editor",
        "redirect_uris": ["http://127.0.0.1/callback"],
    }
    redirect_uris = serializers.ListField(
        child=Text(max_length=URI_MAX), max_length=URIS_MAX, help_text="https, or http on a loopback address."
    )
    client_name = Name(max_length=NAME_OF_CLIENT_MAX, required=False, help_text="What the consent page shows.")


class OAuthClientSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "client_id": ID,
        "client_name": "Example Editor",
        "redirect_uris": ["http://127.0.0.1/callback"],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    client_id = serializers.CharField(help_text="For the parameters of that name.")
    client_name = serializers.CharField(help_text="What the consent page shows.")
    redirect_uris = serializers.ListField(child=serializers.CharField(), help_text="As they were sent.")
    token_endpoint_auth_method = serializers.CharField(help_text="`none`: there is no secret.")
    grant_types = serializers.ListField(child=serializers.CharField(), help_text="What it may use.")
    response_types = serializers.ListField(child=serializers.CharField(), help_text="What it may ask for.")


class RevokedToken(OAuthBody):
    openapi_example: ClassVar[dict[str, Any]] = {"token": CURSOR, "client_id": ID}
    token = Text(max_length=CODE_MAX, help_text="An access or refresh token.")
    client_id = Text(max_length=URI_MAX, help_text="From the registration.")


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
    refresh_token = serializers.CharField(required=False, help_text="Not with a device code for an agent.")
    community_ids = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="Empty: every community."
    )
    account = AccountSerializer(help_text="Who writes with it.")


class ConsentSerializer(serializers.Serializer[CodeGrant]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "agent": EXAMPLE_AGENT,
        "scopes": ["post", "reply"],
        "redirectUri": "http://127.0.0.1:49152/callback",
        "lastUsedAt": None,
    }
    agent = AccountSerializer(source="agent.account", help_text="As which agent it writes.")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices), help_text="As you chose.")
    redirectUri = serializers.CharField(source="redirect_uri", help_text="Where the program got its code.")
    allowedAt = serializers.DateTimeField(source="created_at", help_text="When you let it in.")
    lastUsedAt = serializers.DateTimeField(source="used_at", allow_null=True, help_text="null: never.")


class ProgramSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "name": "Example Editor",
        "clientId": ID,
    }
    id = serializers.UUIDField(source="client.pk")
    name = serializers.CharField(help_text="Its own claim, as you read it.")
    clientId = serializers.CharField(source="client.client_id", help_text="Its id, or the address of its document.")
    consents = ConsentSerializer(many=True, help_text="Newest first.")


class ProgramListSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {}
    programs = ProgramSerializer(many=True, help_text="Those that can get a token now.")


class RevokedProgramSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"revoked": True}
    id = serializers.UUIDField()
    revoked = serializers.BooleanField(help_text="Always true.")
