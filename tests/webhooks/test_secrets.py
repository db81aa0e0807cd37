"""POST /v1/webhooks/{id}/rotate, signatures, and the encryption of secrets."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from messaging.models import Webhook
from tests.commands.running import run_json
from tests.webhooks.making import WEBHOOKS, Owner, send_events
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.django_db(transaction=True)


class Pair:
    """A webhook whose test events are received."""

    def __init__(self, receiver: Receiver) -> None:
        self.owner, self.receiver = Owner(), receiver
        self.created = self.owner.create(receiver.url)
        self.path = f"{WEBHOOKS}/{self.created['id']}"

    def is_signed_with(self, secret: str) -> bool:
        """Whether a new request has a signature of the secret."""
        self.owner.api.post(f"{self.path}/test")
        send_events(self.created["id"])
        request = self.receiver.received[-1]
        try:
            Verifier(secret).verify(request.body, request.headers)
        except WebhookVerificationError:
            return False
        return True

    def rotate(self) -> Any:
        answer = self.owner.api.post(f"{self.path}/rotate")
        assert answer.status == 200, answer.json
        return answer.json


def test_the_library_of_standard_webhooks_verifies_a_request(receiver: Receiver) -> None:
    webhook = Pair(receiver)
    assert webhook.is_signed_with(webhook.created["secret"])
    assert not webhook.is_signed_with("whsec_" + "A" * 44)
    (request, *_) = receiver.received
    with pytest.raises(WebhookVerificationError):
        Verifier(webhook.created["secret"]).verify(request.body + b" ", request.headers)
    assert request.headers["content-type"] == "application/json"


def test_the_former_secret_signs_beside_the_new_one_for_a_day(receiver: Receiver) -> None:
    webhook, other = Pair(receiver), Owner().create(receiver.url)
    before = Webhook.objects.values().get(pk=other["id"])
    rotated = webhook.rotate()
    assert Webhook.objects.values().get(pk=other["id"]) == before
    assert rotated["secret"] != webhook.created["secret"]
    assert webhook.is_signed_with(rotated["secret"])
    assert webhook.is_signed_with(webhook.created["secret"])
    assert len(receiver.received[-1].headers["webhook-signature"].split()) == 2
    assert webhook.owner.get(webhook.created)["previousSecretUntil"] == rotated["previousSecretUntil"]
    Webhook.objects.update(previous_secret_until=Now() - timedelta(seconds=1))
    assert webhook.is_signed_with(rotated["secret"])
    assert not webhook.is_signed_with(webhook.created["secret"])


def test_a_second_rotation_within_a_day_replaces_the_new_secret_only(receiver: Receiver) -> None:
    webhook = Pair(receiver)
    first, second = webhook.rotate(), webhook.rotate()
    assert second["previousSecretUntil"] == first["previousSecretUntil"]
    assert webhook.is_signed_with(webhook.created["secret"])
    assert webhook.is_signed_with(second["secret"])
    assert not webhook.is_signed_with(first["secret"])
    Webhook.objects.update(previous_secret_until=Now())
    third = webhook.rotate()
    assert third["previousSecretUntil"] > second["previousSecretUntil"]
    assert webhook.is_signed_with(third["secret"])
    assert webhook.is_signed_with(second["secret"])
    assert not webhook.is_signed_with(webhook.created["secret"])


def test_secrets_outlive_a_rotation_of_the_root_key(receiver: Receiver, settings: Any) -> None:
    webhook = Pair(receiver)
    webhook.rotate()
    settings.ROOT_KEY_PREVIOUS, settings.ROOT_KEY = settings.ROOT_KEY, "another-root-key" * 4
    assert webhook.is_signed_with(webhook.created["secret"])
    for dry_run, expected in ((["--dry-run"], 1), ([], 1), ([], 0)):
        assert run_json("prune", "--json", *dry_run)["webhook secrets under the previous key"] == expected
    settings.ROOT_KEY_PREVIOUS = ""
    assert webhook.is_signed_with(webhook.created["secret"])


def test_a_lost_secret_disables_the_webhook_until_it_has_another(receiver: Receiver, settings: Any) -> None:
    webhook = Pair(receiver)
    settings.ROOT_KEY = "another-root-key" * 4
    owner = Owner(webhook.owner.embed)
    owner.api.post(f"{webhook.path}/test")
    send_events(webhook.created["id"])
    read = owner.get(webhook.created)
    assert (read["status"], read["disabledReason"]) == ("disabled", "secret_lost")
    assert receiver.received == []
    webhook.owner = owner
    assert webhook.is_signed_with(webhook.rotate()["secret"])
    assert owner.get(webhook.created)["status"] == "active"
