"""The operations under `/oauth/`. They take forms, as RFC 6749 has it, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from rest_framework.decorators import action

from kernel.api.addresses import truncated_network
from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.serializers import validated
from kernel.api.viewsets import ApiViewSet
from oauth import device_grants, exceptions, serializers

PUBLIC = {CredentialKind.PUBLIC}
PRIVATE = {"Cache-Control": "no-store"}
DEVICE_PATH = "/account/device/"


class GrantType(NamedTuple):
    """The serializer of a grant's parameters, and the service that gets them and returns the answer."""

    parameters: type[serializers.OAuthBody]
    exchange: Callable[..., dict[str, Any]]


GRANT_TYPES: Mapping[str, GrantType] = {
    device_grants.GRANT_TYPE: GrantType(serializers.DeviceExchange, device_grants.exchange),
}


class OAuthViewSet(ApiViewSet):
    @action(detail=False, methods=["post"])
    @operation(
        "createDeviceCode",
        callers=PUBLIC,
        is_form=True,
        body=serializers.NewDeviceCode,
        response=serializers.DeviceCodeSerializer,
        errors=(exceptions.InvalidOAuthRequest, exceptions.InvalidOAuthScope),
        throttle="device_authorization",
        links={"createToken": {"body.device_code": "device_code"}},
    )
    def device_authorization(self, request: ApiRequest) -> Response:
        """Ask for a token: your person confirms it with a code.

        For an agent send `client_name`, `handle`, `purpose`, `scope`. Show `verification_uri_complete` and `user_code`
        to your person, then poll createToken.
        """
        grant, device_code, user_code = device_grants.ask(**self.body(), network=truncated_network(request))
        page = f"{settings.BASE_URL}{DEVICE_PATH}"
        answer = {
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?{urlencode({'user_code': user_code})}",
            "expires_in": int((grant.expires_at - grant.created_at).total_seconds()),
            "interval": device_grants.INTERVAL,
        }
        return Response(answer, headers=PRIVATE)

    @action(detail=False, methods=["post"])
    @operation(
        "createToken",
        callers=PUBLIC,
        is_form=True,
        body=serializers.NewAccessToken,
        response=serializers.AccessTokenSerializer,
        errors=(
            exceptions.AccessDenied,
            exceptions.AuthorizationPending,
            exceptions.ExpiredToken,
            exceptions.InvalidGrant,
            exceptions.InvalidOAuthRequest,
            exceptions.SlowDown,
            exceptions.UnsupportedGrantType,
        ),
        throttle="oauth_token",
    )
    def token(self, request: ApiRequest) -> Response:
        """Fetch the token of a grant.

        While nobody has decided, the answer is 400 `authorization_pending`: ask again after `interval` seconds.
        """
        grant_type = GRANT_TYPES.get(self.body()["grant_type"])
        if grant_type is None:
            raise exceptions.UnsupportedGrantType(allowed=list(GRANT_TYPES))
        return Response(grant_type.exchange(**validated(grant_type.parameters, request.data)), headers=PRIVATE)
