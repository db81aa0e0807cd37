"""What a receiver gets before it has answered the challenge, and how many webhooks an account has at one host."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from standardwebhooks import Webhook as Verifier

from messaging.models import Webhook, WebhookDelivery
from messaging.models.webhook import WEBHOOKS_OF_HOST_MAX
from messaging.webhooks import services
from messaging.webhooks.services import disable_webhook, enable_webhook
from messaging.webhooks.turns import waiting_webhooks
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.embeds.making import an_embed
from tests.factories import SuperAdminFactory
from tests.webhooks.making import GLOBAL_URL, WEBHOOKS, Owner, verify
from tests.webhooks.receiver import Receiver, challenge_in, status
from tests.webhooks.test_delivery import Site

pytestmark = pytest.mark.django_db(transaction=True)
TEST, CREATED = "webhook.test", "message.created"
CHALLENGED = "webhook.challenge"


def test_nothing_is_sent_before_the_receiver_has_answered_the_challenge(receiver: Receiver) -> None:
    """Neither events nor tests; and then all of them, in their order."""
    receiver.answer = None
    site, other = Site(receiver, is_verified=False), Site(receiver)
    site.post("first")
    path = f"{WEBHOOKS}/{site.webhook['id']}"
    assert site.webhook["verifiedAt"] is None
    assert site.send() == [False]
    assert site.owner.api.post(f"{path}/test").status == 202
    assert site.send() == [False]
    assert [request.json["type"] for request in receiver.received] == [CHALLENGED] * 2
    first, second = receiver.received
    assert first.id != second.id
    assert len({challenge_in(first.body), challenge_in(second.body), ""}) == 3
    Verifier(site.webhook["secret"]).verify(first.body, first.headers)
    state = site.state()
    assert (state["status"], state["verifiedAt"], state["nextAttemptAt"] is None) == ("failing", None, False)
    # It is not asked again and again: the test that waited has ended.
    assert waiting_webhooks() == []
    receiver.answer = lambda challenge: b'{"challenge": "%s"}' % challenge.encode()
    site.owner.api.post(f"{path}/test")
    assert site.send() == [True, True, True]
    assert [request.json["type"] for request in receiver.received[2:]] == [TEST, CREATED]
    state = site.state()
    assert (state["status"], state["failingSince"], state["verifiedAt"] is None) == ("active", None, False)
    assert site.owner.log(site.webhook) == [
        *[(CHALLENGED, 204, "challenge_failed")] * 2,
        (CHALLENGED, 200, None),
        (TEST, 204, None),
        (CREATED, 204, None),
    ]
    site.post("second")
    assert site.send() == [True]
    assert other.state()["deliveries"] == []


def test_a_webhook_without_events_asks_its_receiver_at_once_and_again_after_pauses(receiver: Receiver) -> None:
    receiver.answer = None
    site = Site(receiver, is_verified=False)
    (waiting,) = waiting_webhooks()
    assert str(waiting.id) == site.webhook["id"]
    assert site.send() == [False]
    assert waiting_webhooks() == []
    site.retry_now()
    assert site.send() == [False]
    assert [each["attempt"] for each in site.state()["deliveries"]] == [2, 1]
    Webhook.objects.update(failing_since=Now() - timedelta(hours=24), next_attempt_at=None)
    assert site.send() == [False]
    assert (site.state()["status"], site.state()["disabledReason"]) == ("disabled", "unreachable")
    assert waiting_webhooks() == []
    # A test that fails leaves it so, and is sent once.
    site.owner.api.post(f"{WEBHOOKS}/{site.webhook['id']}/test")
    assert site.send() == [False]
    assert (waiting_webhooks(), site.state()["disabledReason"]) == ([], "unreachable")
    receiver.answer = str.encode
    site.owner.api.post(f"{WEBHOOKS}/{site.webhook['id']}/test")
    assert site.send() == [True, True]
    assert (site.state()["status"], site.state()["verifiedAt"] is None) == ("active", False)


def test_a_receiver_that_is_gone_is_asked_no_more(receiver: Receiver) -> None:
    receiver.answer, receiver.respond = None, status(410)
    site, other = Site(receiver, is_verified=False), Site(receiver, is_verified=False)
    assert site.send() == [False]
    assert site.state()["disabledReason"] == "gone"
    assert [str(waiting.id) for waiting in waiting_webhooks()] == [other.webhook["id"]]


def test_a_super_admin_enables_no_webhook_without_its_challenge(receiver: Receiver) -> None:
    receiver.answer, boss = None, SuperAdminFactory()
    site = Site(receiver, is_verified=False)
    webhook = Webhook.objects.get()
    disable_webhook(webhook_id=webhook.pk, by=boss, reason="Floods")
    assert waiting_webhooks() == []
    enable_webhook(webhook_id=webhook.pk, by=boss)
    site.post()
    assert site.send() == [False]
    assert [request.json["type"] for request in receiver.received] == [CHALLENGED]


def test_a_test_that_is_requested_during_a_challenge_is_sent(receiver: Receiver) -> None:
    site = Site(receiver, is_verified=False)

    def answer(challenge: str) -> bytes:
        receiver.answer = str.encode
        site.owner.api.post(f"{WEBHOOKS}/{site.webhook['id']}/test")
        return b"no"

    receiver.answer = answer
    assert site.send() == [False]
    assert site.send() == [True, True]
    assert [request.json["type"] for request in receiver.received] == [TEST]


def test_receivers_that_acknowledged_an_event_before_need_no_challenge() -> None:
    working, silent, failing, verified = (Owner().create(is_verified=False) for _ in range(4))
    verify(verified["id"])
    before = Webhook.objects.get(pk=verified["id"]).verified_at
    log = [(working, "", 204), (working, "timeout", None), (failing, "unresolved", None), (failing, "refused", 500)]
    for webhook, error, code in log:
        WebhookDelivery.objects.create(
            webhook_id=webhook["id"],
            event_id=webhook["id"],
            type=CREATED,
            attempt=1,
            error=error,
            status_code=code,
            duration_ms=1,
        )
    migration = import_module("messaging.migrations.0059_webhooks_of_before")
    with connection.cursor() as cursor:
        cursor.execute(migration.ACKNOWLEDGED)
        cursor.execute(migration.ONE_ERROR)
    assert Webhook.objects.get(pk=working["id"]).verified_at is not None
    assert Webhook.objects.get(pk=verified["id"]).verified_at == before
    assert Webhook.objects.filter(pk__in=[silent["id"], failing["id"]], verified_at=None).count() == 2
    assert sorted(WebhookDelivery.objects.values_list("error", flat=True)) == [
        "",
        "address_not_allowed",
        "refused",
        "timeout",
    ]


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    """An account has at most three webhooks at a host."""
    assert WEBHOOKS_OF_HOST_MAX == 20
    monkeypatch.setattr(services, "WEBHOOKS_OF_HOST_MAX", 3)


def test_an_account_has_a_bounded_number_of_webhooks_at_a_host(three: None) -> None:
    """Also of its agents and other embeds, at other ports, paths and spellings; others have their own."""
    agent = agent_with_token()
    person, owner = agent.request.requester, Owner(an_embed(agent.request.requester))
    second, other = Owner(an_embed(person)), Owner()
    owner.create("https://hooks.example.com/a")
    second.create("https://HOOKS.example.com.:8443/?b")
    body = {"agentId": str(agent.account.pk)}
    assert agent.operator.post(WEBHOOKS, body | {"url": "https://hooks.example.com:9443"}).status == 201
    for api, target in ((second.api, {"embedId": str(second.embed.pk)}), (agent.operator, body)):
        for url in ("https://hooks.example.com", "https://hooks.example.com.:1443/x"):
            answer = api.post(WEBHOOKS, target | {"url": url})
            assert (answer.status, answer.error) == (409, "too_many_webhooks"), answer.json
            assert (answer.json["max"], answer.json["field"]) == (3, "url")
    for url in ("https://hooksaexample.com/", "https://a.hooks.example.com/", "https://example.com/hooks.example.com/"):
        owner.create(url)
    other.create("https://hooks.example.com/a")
    owner.api.delete(f"{WEBHOOKS}/{owner.api.get(WEBHOOKS).json['webhooks'][-1]['id']}")
    owner.create("https://hooks.example.com/b")


def test_the_last_place_at_a_host_is_taken_once(three: None) -> None:
    owners = [Owner() for _ in range(4)]
    for each in owners[1:]:
        type(each.embed).objects.filter(pk=each.embed.pk).update(owner=owners[0].account)
    owners[0].create()
    owners[0].create("https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/")
    owners[0].create()
    api = owners[0].api
    answers = race(4, lambda n: api.post(WEBHOOKS, {"url": GLOBAL_URL, "embedId": str(owners[n].embed.pk)}))
    outcomes: list[Any] = sorted(answer.status for answer in answers)
    assert outcomes == [201, 409, 409, 409]
    assert Webhook.objects.count() == 4


def test_an_address_in_brackets_is_a_host(three: None) -> None:
    owner, url = Owner(), "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]"
    for port in ("", ":8443", ":9443"):
        owner.create(f"{url}{port}/")
    answer = owner.api.post(WEBHOOKS, {"url": f"{url}:1443/", "embedId": str(owner.embed.pk)})
    assert answer.error == "too_many_webhooks"
