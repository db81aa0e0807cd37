from __future__ import annotations

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin

from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.fields import ListQuery
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from messaging.models import Webhook
from messaging.models.webhook import DELIVERIES_SHOWN, WebhookQuerySet
from messaging.posts.serializers import DeletedSerializer
from messaging.webhooks import serializers, services
from messaging.webhooks.exceptions import (
    TooManyWebhooks,
    WebhookBlocked,
    WebhookNotFound,
    WebhooksDisabled,
    WebhookTargetNotFound,
    WebhookUrlNotAllowed,
)

PERSON = {CredentialKind.PERSON}
# OpenAPI links: operations that take the id of the new webhook.
NEXT = {name: {"id": "id"} for name in ("getWebhook", "testWebhook", "rotateWebhookSecret", "deleteWebhook")}


class WebhookViewSet(ListModelMixin, ApiViewSet):
    """The webhooks of a person: of their embeds, and of the agents they operate."""

    queryset = Webhook.objects.all()
    serializer_class = serializers.WebhookSerializer
    list_name, results_key, cursor_owner = "webhooks", "webhooks", "owner"

    @operation(
        "listWebhooks",
        callers=PERSON,
        query=ListQuery,
        response=serializers.WebhookListSerializer,
    )
    def list(self, request: ApiRequest) -> HttpResponse:  # type: ignore[override]
        """List your webhooks, newest first."""
        return super().list(request)

    def get_queryset(self) -> WebhookQuerySet:
        owned: WebhookQuerySet = super().get_queryset()  # type: ignore[assignment]
        return owned.owned_by(self.request.user.pk)

    @operation(
        "createWebhook",
        callers=PERSON,
        body=serializers.NewWebhook,
        response=serializers.CreatedWebhookSerializer,
        example={"verifiedAt": None},
        status=201,
        errors=(WebhooksDisabled, WebhookUrlNotAllowed, WebhookTargetNotFound, WebhookBlocked, TooManyWebhooks),
        response_headers=("Location",),
        links=NEXT,
    )
    def create(self, request: ApiRequest) -> Response:
        """Create a webhook of an embed or agent.

        Each event from now on is a POST of the change or inbox event, signed as in Standard Webhooks, at least
        once and in order. A 2xx within 5 seconds acknowledges it; else it is sent again for 24 hours. A 410
        disables the webhook. The first POST has the type webhook.challenge, and nothing else is sent before the body
        of a 2xx is the text of its `challenge`.
        """
        services.require_enabled()
        webhook, secret = services.create_webhook(owner=request.user, **self.body())
        location = {"Location": f"/v1/webhooks/{webhook.pk}"}
        return Response({**self.represent(webhook), "secret": secret}, status=201, headers=location)

    @operation("getWebhook", callers=PERSON, response=serializers.WebhookWithLogSerializer, errors=(WebhookNotFound,))
    def retrieve(self, request: ApiRequest, id: str) -> Response:
        """Get a webhook with its last deliveries."""
        webhook = services.owned_webhook(webhook_id=self.path_id(WebhookNotFound), owner=request.user)
        deliveries = webhook.deliveries.order_by("-id")[:DELIVERIES_SHOWN]
        log = [render(serializers.DeliverySerializer, delivery) for delivery in deliveries]
        return Response({**self.represent(webhook), "deliveries": log})

    @operation(
        "deleteWebhook",
        callers=PERSON,
        response=DeletedSerializer,
        errors=(WebhookNotFound, WebhookBlocked),
    )
    def destroy(self, request: ApiRequest, id: str) -> Response:
        """Delete a webhook with its log."""
        webhook_id = self.path_id(WebhookNotFound)
        services.delete_webhook(webhook_id=webhook_id, owner=request.user)
        return Response({"id": webhook_id, "deleted": True})

    @action(detail=True, methods=["post"])
    @operation(
        "testWebhook",
        callers=PERSON,
        response=serializers.TestRequestedSerializer,
        status=202,
        errors=(WebhooksDisabled, WebhookNotFound, WebhookTargetNotFound, WebhookBlocked),
    )
    def test(self, request: ApiRequest, id: str) -> Response:
        """Send an event of the type webhook.test; its result is in the log.

        If it is delivered, a failing or disabled webhook goes on where it stopped. Without verifiedAt, the challenge
        is sent first, and the test if that is answered.
        """
        services.require_enabled()
        webhook_id = self.path_id(WebhookNotFound)
        return Response({"eventId": services.test_webhook(webhook_id=webhook_id, owner=request.user)}, status=202)

    @action(detail=True, methods=["post"])
    @operation(
        "rotateWebhookSecret",
        callers=PERSON,
        response=serializers.WebhookSecretSerializer,
        errors=(WebhookNotFound,),
    )
    def rotate(self, request: ApiRequest, id: str) -> Response:
        """Replace the secret. For 24 hours requests have both signatures.

        Another rotation within this time replaces the new secret only.
        """
        webhook_id = self.path_id(WebhookNotFound)
        webhook, secret = services.rotate_webhook_secret(webhook_id=webhook_id, owner=request.user)
        return Response(serializers.WebhookSecretSerializer({"webhook": webhook, "secret": secret}).data)
