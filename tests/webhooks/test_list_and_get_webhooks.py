"""GET /v1/webhooks and GET /v1/webhooks/{id}, and DELETE /v1/webhooks/{id}."""

from __future__ import annotations

from typing import Any

import pytest

from messaging.models import Webhook, WebhookDelivery
from messaging.webhooks import turns
from messaging.webhooks import views as webhooks
from tests.webhooks.making import WEBHOOKS, Owner, send_events
from tests.webhooks.receiver import Receiver, status

pytestmark = pytest.mark.django_db
# How many deliveries a webhook keeps in this test; the service keeps fifty.
SHOWN = 3


def test_the_list_has_ones_own_webhooks_newest_first(settings: Any) -> None:
    owner, other = Owner(), Owner()
    created = [owner.create(f"https://93.184.215.14/{number}") for number in range(3)]
    other.create()
    settings.WEBHOOKS = False
    first = owner.api.get(WEBHOOKS, limit=2).json
    assert [webhook["id"] for webhook in first["webhooks"]] == [created[2]["id"], created[1]["id"]]
    rest = owner.api.get(WEBHOOKS, limit=2, cursor=first["nextCursor"]).json
    assert ([webhook["id"] for webhook in rest["webhooks"]], rest["hasMore"]) == ([created[0]["id"]], False)
    assert "secret" not in first["webhooks"][0]
    assert other.api.get(WEBHOOKS, limit=2, cursor=first["nextCursor"]).error == "invalid_cursor"


@pytest.mark.parametrize("webhook_id", ["x", "01890a5d-ac96-774b-bcce-b302099a8057"])
def test_an_unknown_webhook_is_not_found(webhook_id: str) -> None:
    owner = Owner()
    for answer in (
        owner.api.get(f"{WEBHOOKS}/{webhook_id}"),
        owner.api.delete(f"{WEBHOOKS}/{webhook_id}"),
        owner.api.post(f"{WEBHOOKS}/{webhook_id}/test"),
        owner.api.post(f"{WEBHOOKS}/{webhook_id}/rotate"),
    ):
        assert (answer.status, answer.error) == (404, "webhook_not_found")


@pytest.mark.django_db(transaction=True)
def test_the_log_has_the_last_attempts_without_the_responses(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (webhooks, turns):
        monkeypatch.setattr(module, "DELIVERIES_SHOWN", SHOWN)
    owner = Owner()
    webhook = owner.create(receiver.url)
    receiver.respond = status(500, **{"X-Text": "a text of the receiver"})
    for _ in range(SHOWN + 2):
        assert owner.api.post(f"{WEBHOOKS}/{webhook['id']}/test").status == 202
        send_events(webhook["id"])
    read = owner.get(webhook)
    assert len(read["deliveries"]) == WebhookDelivery.objects.count() == SHOWN
    newest = read["deliveries"][0]
    assert newest | {"at": 0, "eventId": 0, "durationMs": 0} == {
        "eventId": 0,
        "type": "webhook.test",
        "at": 0,
        "attempt": 1,
        "statusCode": 500,
        "error": "refused",
        "durationMs": 0,
    }
    assert receiver.received[-1].id == "evt_" + newest["eventId"].replace("-", "")
    assert "a text of the receiver" not in str(read)


@pytest.mark.django_db(transaction=True)
def test_a_deleted_webhook_sends_nothing_more(receiver: Receiver) -> None:
    owner = Owner()
    webhook, other = owner.create(receiver.url), owner.create(receiver.url)
    for each in (webhook, other):
        owner.api.post(f"{WEBHOOKS}/{each['id']}/test")
    answer = owner.api.delete(f"{WEBHOOKS}/{webhook['id']}")
    assert answer.json == {"id": webhook["id"], "deleted": True}
    assert [str(due.pk) for due in Webhook.objects.due()] == [other["id"]]
    assert owner.api.get(f"{WEBHOOKS}/{webhook['id']}").status == 404
    assert owner.api.delete(f"{WEBHOOKS}/{webhook['id']}").status == 404
