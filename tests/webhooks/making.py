"""Helpers of the tests of webhooks."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from embeds.models import Embed
from messaging.models import Webhook, WebhookTarget
from messaging.webhooks.posting import Outcome, post
from messaging.webhooks.services import create_webhook
from messaging.webhooks.turns import lease, next_attempt, record, release
from tests.agents.factories import TokenHolder
from tests.api import Api
from tests.embeds.making import an_embed
from tests.factories import PersonFactory

WEBHOOKS = "/v1/webhooks"
# No request is sent to it: an address needs no name server.
GLOBAL_URL = "https://93.184.215.14/hook"


def a_webhook(agent: TokenHolder, url: str = GLOBAL_URL, **fields: Any) -> Webhook:
    """Of an agent. Its receiver has answered the challenge."""
    owner = agent.request.requester
    kind, target = WebhookTarget.AGENT, agent.account.pk
    webhook = create_webhook(owner=owner, target_kind=kind, target_id=target, url=url, **fields)[0]
    verify(webhook.pk)
    webhook.refresh_from_db()
    return webhook


def verify(webhook_id: UUID | str) -> None:
    """As if its receiver had answered the challenge."""
    Webhook.objects.filter(pk=webhook_id).update(verified_at=Now())


class Owner:
    """The owner of an embed, with a client of the API."""

    def __init__(self, embed: Embed | None = None) -> None:
        self.embed = embed or an_embed(PersonFactory())
        self.account = self.embed.owner
        self.api = Api.as_person(self.account)

    def create(self, url: str = GLOBAL_URL, *, is_verified: bool = True, **fields: Any) -> Any:
        answer = self.api.post(WEBHOOKS, {"url": url, "embedId": str(self.embed.pk), **fields})
        assert answer.status == 201, answer.json
        if is_verified:
            verify(answer.json["id"])
        return answer.json

    def get(self, webhook: Any) -> Any:
        answer = self.api.get(f"{WEBHOOKS}/{webhook['id']}")
        assert answer.status == 200, answer.json
        return answer.json

    def log(self, webhook: Any) -> list[tuple[Any, Any, Any]]:
        """(type, status, error) of the attempts, oldest first."""
        deliveries = self.get(webhook)["deliveries"]
        return [(each["type"], each["statusCode"], each["error"]) for each in reversed(deliveries)]


def send_events(webhook_id: UUID | str) -> list[Outcome]:
    """One turn of a webhook in this thread; returns the outcomes of its attempts."""
    lease_id, outcomes = lease(UUID(str(webhook_id))), []
    assert lease_id is not None, "not due"
    while attempt := next_attempt(lease_id):
        event = attempt.event
        outcomes.append(asyncio.run(post(attempt.webhook.url, event.body, attempt.headers, event.challenge)))
        if not record(attempt, outcomes[-1]):
            break
    release(lease_id)
    return outcomes
