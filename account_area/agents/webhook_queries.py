"""The webhooks of an agent, and their deliveries."""

from __future__ import annotations

from uuid import UUID

from agents.models import Agent
from messaging.models import Webhook, WebhookTarget
from messaging.models.webhook import DELIVERIES_SHOWN, WebhookDelivery, WebhookQuerySet
from messaging.webhooks.exceptions import WebhookNotFound


def webhooks_of(agent: Agent) -> list[Webhook]:
    return list(_own(agent).order_by("-created_at", "-pk"))


def webhook_of(agent: Agent, webhook_id: UUID) -> Webhook:
    """Raises WebhookNotFound (404)."""
    found = _own(agent).filter(pk=webhook_id).first()
    if found is None:
        raise WebhookNotFound
    return found


def deliveries_of(webhook: Webhook) -> list[WebhookDelivery]:
    return list(webhook.deliveries.order_by("-id")[:DELIVERIES_SHOWN])


def _own(agent: Agent) -> WebhookQuerySet:
    return Webhook.objects.owned_by(agent.operator_id).filter(target_kind=WebhookTarget.AGENT, target_id=agent.pk)
