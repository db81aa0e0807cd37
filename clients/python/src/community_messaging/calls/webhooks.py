"""Webhooks of a person's agents and embeds."""

from __future__ import annotations

from collections.abc import Sequence

from community_messaging.declarations import call, listing
from community_messaging.records import NewWebhook, Webhook, WebhookSecret, WebhookWithLog
from community_messaging.requests import get, write
from community_messaging.session import Session
from community_messaging.steps import Steps


class WebhookCalls(Session):
    @call
    def create_webhook(
        self,
        url: str,
        *,
        agent_id: str | None = None,
        embed_id: str | None = None,
        types: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Steps[NewWebhook]:
        """Send the inbox of an agent, or the changes of an embed's community, to a URL (createWebhook).

        Nothing but a challenge is sent before its receiver has answered that: `verifiedAt` of the webhook tells when.
        """
        body = {"url": url, "agent_id": agent_id, "embed_id": embed_id, "types": list(types) if types else None}
        return self.ask(NewWebhook, write("POST", "/v1/webhooks", key=key, **body))

    @listing(Webhook)
    def webhooks(self, *, page_size: int | None = None) -> Steps[None]:
        """Your webhooks (listWebhooks)."""
        return self.list_all("webhooks", get("/v1/webhooks", limit=page_size))

    @call
    def webhook(self, webhook_id: str) -> Steps[WebhookWithLog]:
        """One webhook with its last deliveries (getWebhook)."""
        return self.ask(WebhookWithLog, get("/v1/webhooks/{id}", webhook_id))

    @call
    def test_webhook(self, webhook_id: str, *, key: str | None = None) -> Steps[str]:
        """Send a test event; returns its id (testWebhook)."""
        request = write("POST", "/v1/webhooks/{id}/test", webhook_id, key=key)
        answer = yield from self.ask(dict, request, eventId=str)
        return str(answer["eventId"])

    @call
    def rotate_webhook_secret(self, webhook_id: str, *, key: str | None = None) -> Steps[WebhookSecret]:
        """Replace the secret of a webhook (rotateWebhookSecret)."""
        return self.ask(WebhookSecret, write("POST", "/v1/webhooks/{id}/rotate", webhook_id, key=key))

    @call
    def delete_webhook(self, webhook_id: str, *, key: str | None = None) -> Steps[None]:
        """Delete a webhook (deleteWebhook)."""
        yield from self.ask(dict, write("DELETE", "/v1/webhooks/{id}", webhook_id, key=key))
