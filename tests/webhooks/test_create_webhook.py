"""POST /v1/webhooks."""

from __future__ import annotations

import base64
import socket
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from embeds.services import delete_embed, disable_embed
from messaging.models import Webhook
from messaging.models.webhook import WEBHOOKS_MAX
from messaging.webhooks.secrets import decrypt
from messaging.webhooks.services import disable_webhook
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.embeds.making import UNKNOWN_ID, an_embed
from tests.factories import PersonFactory, SuperAdminFactory
from tests.webhooks.making import GLOBAL_URL, WEBHOOKS, Owner

pytestmark = pytest.mark.django_db


def test_an_owner_creates_a_webhook_of_an_embed() -> None:
    owner = Owner()
    created = owner.create(types=["message.created", "message.hidden", "message.created"])
    assert created["embedId"] == str(owner.embed.pk)
    assert (created["agentId"], created["status"], created["disabledReason"]) == (None, "active", None)
    assert created["types"] == ["message.created", "message.hidden"]
    prefix, _, key = created["secret"].partition("_")
    assert (prefix, len(base64.b64decode(key))) == ("whsec", 32)
    webhook = Webhook.objects.get(pk=created["id"])
    assert decrypt(webhook.secret, webhook_id=webhook.pk) == created["secret"]
    assert "secret" not in owner.get(created)


def test_an_operator_creates_a_webhook_of_an_agent() -> None:
    agent = agent_with_token()
    body = {"url": GLOBAL_URL, "agentId": str(agent.account.pk), "types": ["reply", "mention"]}
    answer = agent.operator.post(WEBHOOKS, body)
    assert (answer.status, answer.headers["Location"]) == (201, f"/v1/webhooks/{answer.json['id']}")
    assert (answer.json["agentId"], answer.json["embedId"]) == (str(agent.account.pk), None)


def test_a_repeated_key_creates_one_webhook_and_returns_the_same_secret() -> None:
    owner = Owner()
    body = {"url": GLOBAL_URL, "embedId": str(owner.embed.pk)}
    first, again = (owner.api.post(WEBHOOKS, body, key="once") for _ in range(2))
    assert first.body == again.body
    assert Webhook.objects.count() == 1


def test_it_is_refused_unless_the_operator_of_the_service_allows_webhooks(settings: Any) -> None:
    settings.WEBHOOKS = False
    answer = Owner().api.post(WEBHOOKS, {"url": 1})
    assert (answer.status, answer.error) == (403, "webhooks_disabled")


def test_the_embed_or_agent_of_another_is_not_found() -> None:
    agent, embed, person = agent_with_token(), an_embed(), Api.as_person(PersonFactory())
    for target in ({"embedId": str(embed.pk)}, {"agentId": str(agent.account.pk)}, {"embedId": UNKNOWN_ID}):
        answer = person.post(WEBHOOKS, {"url": GLOBAL_URL, **target})
        assert (answer.status, answer.error) == (404, "webhook_target_not_found")
    # Also one's own under the name of the other kind.
    swapped = agent.operator.post(WEBHOOKS, {"url": GLOBAL_URL, "embedId": str(agent.account.pk)})
    assert swapped.status == 404


def test_a_deleted_or_disabled_embed_is_not_found() -> None:
    deleted, disabled = Owner(), Owner()
    delete_embed(embed_id=deleted.embed.pk, owner=deleted.account)
    disable_embed(embed_id=disabled.embed.pk, by=SuperAdminFactory())
    for owner in (deleted, disabled):
        assert owner.api.post(WEBHOOKS, {"url": GLOBAL_URL, "embedId": str(owner.embed.pk)}).status == 404


def test_invalid_fields_are_refused() -> None:
    for fields, field in [
        ({"url": None}, "url"),
        ({"url": 1}, "url"),
        ({"url": "https://example.com/" + "x" * 2048}, "url"),
        ({"url": "https://example.com/" + "é" * 2000}, "url"),
        ({"url": "ftp://example.com/"}, "url"),
        ({"url": "https://user:password@example.com/"}, "url"),
        ({"url": "https:///path"}, "url"),
        ({"embedId": None}, "embedId"),
        ({"agentId": UNKNOWN_ID}, "embedId"),
        ({"embedId": "x"}, "embedId"),
        ({"types": ["reply"]}, "types"),
        ({"types": ["nonsense"]}, "types"),
        ({"types": "message.created"}, "types"),
        ({"types": ["message.created"] * 100}, "types"),
    ]:
        owner = Owner()
        body = {"url": GLOBAL_URL, "embedId": str(owner.embed.pk)} | fields
        answer = owner.api.post(WEBHOOKS, {name: value for name, value in body.items() if value is not None})
        assert (answer.status, answer.json["field"].split("[")[0]) == (400, field), answer.json
        assert not Webhook.objects.exists(), (fields, field)


def test_a_url_of_a_host_that_is_not_global_is_refused() -> None:
    for url in [
        *("http://93.184.215.14/", "https://93.184.215.14:25/", "https://93.184.215.14:80/"),
        *("https://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/", "https://[::ffff:10.0.0.1]/"),
        *("https://0x7f.1/", "https://2130706433/", "https://017700000001/", "https://169.254.169.254/latest"),
        *("https://[64:ff9b::a00:1]/", "https://100.64.0.1/", "https://224.0.0.1/"),
        *(
            "https://localhost/",
            "https://localhost./",
            "https://a.LOCALHOST/",
            "https://intranet/",
            "https://printer.local/",
        ),
        *("https://metadata.google.internal/", "https://a.internal.:8443/"),
    ]:
        owner = Owner()
        answer = owner.api.post(WEBHOOKS, {"url": url, "embedId": str(owner.embed.pk)})
        assert (answer.status, answer.error) == (400, "webhook_url_not_allowed"), url


def test_a_host_name_is_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *_arguments, **_options: asked.append(host))
    assert Owner().create("https://no-such-host.example/")["status"] == "active"
    assert asked == []


def test_a_webhook_that_a_super_admin_disabled_is_neither_deleted_nor_created_again() -> None:
    owner = Owner()
    created = owner.create()
    disable_webhook(webhook_id=UUID(created["id"]), by=SuperAdminFactory(), reason="Floods")
    again = GLOBAL_URL.replace("https", "HTTPS") + "#again"
    for answer in (
        owner.api.delete(f"{WEBHOOKS}/{created['id']}"),
        owner.api.post(WEBHOOKS, {"url": again, "embedId": str(owner.embed.pk)}),
    ):
        assert (answer.status, answer.error) == (403, "webhook_blocked")
    assert owner.get(created)["disabledDetails"] == "Floods"
    assert owner.create(f"{GLOBAL_URL}/other")["status"] == Owner().create()["status"] == "active"


def test_it_costs_the_same_queries_with_other_webhooks() -> None:
    owner, costs = Owner(), []
    for _ in range(3):
        with CaptureQueriesContext(connection) as captured:
            owner.create()
        costs.append(len(captured))
    assert costs[1] == costs[2] <= 15


def test_the_url_is_stored_as_browsers_read_it() -> None:
    created = Owner().create("HTTPS://93.184.215.14:443/a/../b?c=d#e")
    assert created["url"] == "https://93.184.215.14/b?c=d"


@pytest.mark.django_db(transaction=True)
def test_an_embed_has_at_most_ten_webhooks_also_at_once() -> None:
    owner = Owner()
    for _ in range(WEBHOOKS_MAX - 1):
        owner.create()
    body = {"url": GLOBAL_URL, "embedId": str(owner.embed.pk)}
    answers = race(4, lambda _number: owner.api.post(WEBHOOKS, body))
    outcomes = [(answer.status, answer.json.get("error"), answer.json.get("max")) for answer in answers]
    assert sorted(outcomes, key=str) == [(201, None, None)] + [(409, "too_many_webhooks", WEBHOOKS_MAX)] * 3
