"""Operations, bodies and responses of the accounts of sites."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.decorators import action

from embeds.exceptions import (
    EmbedNotActive,
    EmbedNotFound,
    InvalidSiteToken,
    SiteAccountSuspended,
    SiteSecretNotFound,
    SiteSignInOff,
    SiteTokenUsed,
)
from embeds.site_accounts import keys, services
from embeds.site_accounts.tokens import TOKEN_MAX
from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import NotOwner
from kernel.api.fields import Id, Text
from kernel.api.openapi.example_values import ID, JWT
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.serializers import BodySerializer
from kernel.api.viewsets import ApiViewSet
from messaging.accounts.serializers import AccountSerializer, PanelTokenSerializer
from messaging.accounts.services import account_record
from messaging.accounts.views import PRIVATE, panel_token_record
from messaging.moderation.exceptions import ModeratorRequired
from messaging.privacy.exceptions import AccountBeingErased

# Nobody signs with it.
EXAMPLE_SECRET = "sso_3q2-7wEREREREREREREREREREREREREREREREREREQ8"  # noqa: S105


class SiteTokenText(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"token": JWT}
    token = Text(max_length=TOKEN_MAX, help_text="The JWT that the site has signed.")


class NewSiteSession(SiteTokenText):
    openapi_example: ClassVar[dict[str, Any]] = {"embedId": ID, "token": JWT}
    embedId = Id(source="embed_id", help_text="Of the widget; `aud` of the token names it.")


class SiteSecretSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"secret": EXAMPLE_SECRET, "previousSecretUntil": None}
    secret = serializers.CharField(help_text="Signs with HS256; shown once.")
    previousSecretUntil = serializers.DateTimeField(
        allow_null=True, help_text="Until then the former one is accepted too; null: there is none."
    )


class EndedSecretSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"deleted": True}
    id = serializers.UUIDField(help_text="Of the embed.")
    deleted = serializers.BooleanField(help_text="Always true.")


class ProblemSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "claim": "token",
        "message": "This is no JSON Web Token: three parts, with dots between them.",
    }
    claim = serializers.CharField(help_text="The claim, or `token`, `alg`, `signature` or `signIn`.")
    message = serializers.CharField(help_text="What to do about it.")


class SiteTokenCheckSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"valid": False, "algorithm": "", "claims": {}, "account": None}
    valid = serializers.BooleanField(help_text="Whether it would sign in.")
    algorithm = serializers.CharField(allow_blank=True, help_text="`alg` of its header.")
    claims = serializers.DictField(help_text="As they were read.")
    problems = ProblemSerializer(many=True, help_text="All that is wrong with it.")
    account = AccountSerializer(allow_null=True, help_text="Of its `sub`; null: it would be made.")


class SiteSessionViewSet(ApiViewSet):
    @action(detail=False, methods=["post"], url_path="site-token")
    @operation(
        "exchangeSiteToken",
        callers={CredentialKind.PUBLIC},
        is_atomic=False,
        body=NewSiteSession,
        response=PanelTokenSerializer,
        errors=(
            AccountBeingErased,
            EmbedNotActive,
            EmbedNotFound,
            InvalidSiteToken,
            SiteAccountSuspended,
            SiteSignInOff,
            SiteTokenUsed,
        ),
        throttle="session",
    )
    def exchange(self, request: ApiRequest) -> Response:
        """Exchange the token of a site for a user token of 15 minutes, once.

        Each `sub` of a community has an account of its own. It writes in that community alone, and does what the
        panel does.
        """
        return Response(panel_token_record(services.exchange(**self.body())), headers=PRIVATE)


OWNERS = {CredentialKind.SIGNED_IN}
NOT_YOURS = (EmbedNotFound, NotOwner)


class SiteSecretViewSet(ApiViewSet):
    """The secret with which a site signs tokens, and the tester of tokens."""

    @action(detail=True, methods=["post"], url_path="site-secret")
    @operation(
        "rotateSiteSecret", callers=OWNERS, response=SiteSecretSerializer, errors=(*NOT_YOURS, ModeratorRequired)
    )
    def secret(self, request: ApiRequest, id: str) -> Response:
        """Get a secret for the accounts of your site, or another one: the former one is accepted for 24 hours more.

        Another rotation within this time replaces the new secret only. You have to moderate the community.
        """
        row, secret = keys.rotate_secret(embed_id=self.path_id(EmbedNotFound), owner=request.user)
        until = row.previous_secret_until
        return Response({"secret": secret, "previousSecretUntil": until}, headers=PRIVATE)

    @secret.mapping.delete
    @operation(
        "deleteSiteSecret", callers=OWNERS, response=EndedSecretSerializer, errors=(*NOT_YOURS, SiteSecretNotFound)
    )
    def end(self, request: ApiRequest, id: str) -> Response:
        """End the secret and the former one at once. Who is signed in stays so for at most 15 minutes."""
        embed_id = self.path_id(EmbedNotFound)
        keys.end_secret(embed_id=embed_id, owner=request.user)
        return Response({"id": embed_id, "deleted": True})

    @action(detail=True, methods=["post"], url_path="site-token-check")
    @operation(
        "getSiteTokenCheck", callers=OWNERS, body=SiteTokenText, response=SiteTokenCheckSerializer, errors=NOT_YOURS
    )
    def check(self, request: ApiRequest, id: str) -> Response:
        """Find out what a token of your site says and what is wrong with it, without using it up."""
        embed_id = self.path_id(EmbedNotFound)
        reading, account = services.check(embed_id=embed_id, owner=request.user, **self.body())
        return Response(
            {
                "valid": not reading.problems,
                "algorithm": reading.algorithm,
                "claims": reading.claims,
                "problems": [problem._asdict() for problem in reading.problems],
                "account": account and account_record(account),
            },
            headers=PRIVATE,
        )
