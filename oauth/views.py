"""The operations under `/oauth/`. They take forms, as RFC 6749 has it, and JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from rest_framework.decorators import action

from agents.models import Scope
from kernel.api.addresses import truncated_network
from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exception_handler import read_only
from kernel.api.exceptions import NotFound
from kernel.api.operations import operation
from kernel.api.public_documents import any_origin
from kernel.api.requests import Response
from kernel.api.serializers import validated
from kernel.api.viewsets import ApiViewSet
from oauth import clients, code_grants, device_grants, exceptions, serializers

PUBLIC = {CredentialKind.PUBLIC}
PERSON = {CredentialKind.PERSON}
PRIVATE = {"Cache-Control": "no-store"}
DEVICE_PATH = "/account/device/"


class GrantType(NamedTuple):
    """The serializer of a grant's parameters, and the service that gets them and returns the answer."""

    parameters: type[serializers.OAuthBody]
    exchange: Callable[..., dict[str, Any]]


DEVICE_TYPES = {device_grants.GRANT_TYPE: GrantType(serializers.DeviceExchange, device_grants.exchange)}
ALL_TYPES = DEVICE_TYPES | {
    code_grants.CODE_TYPE: GrantType(serializers.CodeExchange, code_grants.exchange_code),
    code_grants.REFRESH_TYPE: GrantType(serializers.RefreshExchange, code_grants.refresh),
}


def grant_types() -> dict[str, GrantType]:
    return ALL_TYPES if settings.OAUTH else DEVICE_TYPES


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
            exceptions.InvalidTarget,
            exceptions.SlowDown,
            exceptions.UnsupportedGrantType,
        ),
        throttle="oauth_token",
        is_atomic=False,
    )
    def token(self, request: ApiRequest) -> Response:
        """Fetch the token of a grant.

        While nobody has decided, the answer is 400 `authorization_pending`: ask again after `interval` seconds.
        """
        grant_type = grant_types().get(self.body()["grant_type"])
        if grant_type is None:
            raise exceptions.UnsupportedGrantType(allowed=list(grant_types()))
        return Response(grant_type.exchange(**validated(grant_type.parameters, request.data)), headers=PRIVATE)

    @action(detail=False, methods=["post"])
    @operation(
        "createClient",
        callers=PUBLIC,
        body=serializers.NewClient,
        response=serializers.OAuthClientSerializer,
        status=201,
        errors=(exceptions.InvalidOAuthRequest, NotFound),
        throttle="device_authorization",
    )
    def register(self, request: ApiRequest) -> Response:
        """Register a program that speaks MCP (RFC 7591), with OAUTH=1."""
        _require_oauth()
        client = clients.register(**self.body())
        answer = {
            "client_id": str(client.pk),
            "client_name": client.name,
            "redirect_uris": client.redirect_uris,
            "token_endpoint_auth_method": "none",
            "grant_types": [code_grants.CODE_TYPE, code_grants.REFRESH_TYPE],
            "response_types": ["code"],
        }
        return Response(answer, status=201, headers=PRIVATE)

    @action(detail=False, methods=["post"])
    @operation(
        "revokeClientToken",
        callers=PUBLIC,
        is_form=True,
        body=serializers.RevokedToken,
        response={"type": "object"},
        errors=(exceptions.InvalidOAuthRequest, NotFound),
        throttle="oauth_token",
    )
    def revoke(self, request: ApiRequest) -> Response:
        """End the tokens of a program's consent (RFC 7009), with OAUTH=1."""
        _require_oauth()
        code_grants.revoke(**self.body())
        return Response({}, headers=PRIVATE)


class ProgramViewSet(ApiViewSet):
    """The programs that a person let act as one of their agents."""

    @operation("listPrograms", callers=PERSON, response=serializers.ProgramListSerializer)
    def list(self, request: ApiRequest) -> Response:
        """List the programs that you let act as your agents by OAuth, from your newest 100 consents."""
        programs = code_grants.programs_of(request.user)
        return Response(serializers.ProgramListSerializer({"programs": programs}).data, headers=PRIVATE)

    @operation(
        "revokeProgram",
        callers=PERSON,
        response=serializers.RevokedProgramSerializer,
        errors=(exceptions.ProgramNotFound,),
    )
    def destroy(self, request: ApiRequest, id: str) -> Response:
        """End all tokens that you gave to a program, at once and for good."""
        program_id = self.path_id(exceptions.ProgramNotFound)
        code_grants.revoke_program(program_id=program_id, by=request.user)
        return Response({"id": program_id, "revoked": True})


def _require_oauth() -> None:
    if not settings.OAUTH:
        raise NotFound


@any_origin
@read_only
def protected_resource(_request: HttpRequest) -> HttpResponse:
    """RFC 9728, at the address with the path of the resource, which clients try first, and at the one without."""
    if not settings.OAUTH:
        raise Http404
    return JsonResponse(
        {
            "resource": code_grants.resource(),
            "authorization_servers": [settings.BASE_URL],
            "scopes_supported": Scope.values,
            "bearer_methods_supported": ["header"],
            "resource_name": "Community Messaging",
        }
    )


@any_origin
@read_only
def authorization_server(_request: HttpRequest) -> HttpResponse:
    """RFC 8414."""
    if not settings.OAUTH:
        raise Http404
    base = settings.BASE_URL
    return JsonResponse(
        {
            "issuer": base,
            "authorization_endpoint": f"{base}/account/authorize/",
            "token_endpoint": f"{base}/oauth/token",
            "registration_endpoint": f"{base}/oauth/register",
            "revocation_endpoint": f"{base}/oauth/revoke",
            "device_authorization_endpoint": f"{base}/oauth/device_authorization",
            "scopes_supported": Scope.values,
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": list(grant_types()),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }
    )
