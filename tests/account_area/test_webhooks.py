"""The webhooks of an agent on their pages."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from messaging.models import Account, Webhook, WebhookDelivery
from messaging.services.webhooks import disable_webhook
from tests.account_area.aborting import aborted_before_an_equal_form
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import SuperAdminFactory
from tests.webhooks.making import GLOBAL_URL, a_webhook

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _enabled(settings: Any) -> None:
    settings.WEBHOOKS = True


@pytest.fixture
def holder(person: Account) -> TokenHolder:
    return agent_with_token(requester=person)


def list_of(holder: TokenHolder) -> str:
    return f"/account/agents/{holder.account.handle}/webhooks/"


def create(client: Client, holder: TokenHolder, **changes: Any) -> Any:
    sent = {"submission": str(uuid4()), "url": GLOBAL_URL, "types": ["reply"]} | changes
    return client.post(f"{list_of(holder)}new/", sent)


@pytest.mark.django_db(transaction=True)
def test_a_secret_of_an_aborted_try_is_not_shown(client: Client, holder: TokenHolder) -> None:
    webhook = a_webhook(holder)
    page = f"{list_of(holder)}{webhook.pk}/"
    with aborted_before_an_equal_form(f"{page}?made"):
        assert client.post(f"{page}rotate/", {"submission": str(uuid4())})["Location"] == f"{page}?made"


def test_a_webhook_is_created_once_and_its_secret_shown_once(client: Client, holder: TokenHolder) -> None:
    key = str(uuid4())
    response = create(client, holder, submission=key)
    secret = response.context["secret"]
    webhook = Webhook.objects.get()
    assert (webhook.url, webhook.types, webhook.target_id) == (GLOBAL_URL, ["reply"], holder.account.pk)
    assert response.content.decode().count(secret) == 1
    second = create(client, holder, submission=key)
    assert second.status_code == 302
    shown = client.get(second["Location"]).content.decode()
    assert "was shown once" in shown
    assert secret not in shown
    assert GLOBAL_URL in client.get(list_of(holder)).content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", ""),
        ("url", "http://93.184.215.14/hook"),
        ("url", "https://127.0.0.1/hook"),
        ("url", "javascript:alert(1)"),
        ("url", "https://example.com/" + "x" * 2048),
        ("types", ["message.created"]),
    ],
)
def test_a_bad_field_is_shown_in_the_form(client: Client, holder: TokenHolder, field: str, value: Any) -> None:
    response = create(client, holder, **{field: value})
    assert response.context["form"].errors[field]
    assert not Webhook.objects.exists()


def test_test_rotation_and_deletion(client: Client, holder: TokenHolder) -> None:
    webhook = a_webhook(holder)
    page = f"{list_of(holder)}{webhook.pk}/"
    assert client.post(f"{page}test/")["Location"] == page
    webhook.refresh_from_db()
    assert webhook.test_id is not None
    assert client.get(f"{page}test/").status_code == 405
    key = {"submission": str(uuid4())}
    before = bytes(webhook.secret)
    assert client.post(f"{page}rotate/", key).context["secret"].startswith("whsec_")
    assert client.post(f"{page}rotate/", key).status_code == 302
    webhook.refresh_from_db()
    assert bytes(webhook.previous_secret) == before
    assert client.post(f"{page}delete/")["Location"] == list_of(holder)
    assert client.get(page).status_code == 404


def test_the_page_has_the_deliveries_with_their_outcome(client: Client, holder: TokenHolder) -> None:
    webhook = a_webhook(holder)
    for error, status in (("", 204), ("refused", 500), ("timeout", None)):
        WebhookDelivery.objects.create(
            webhook=webhook, event_id=uuid4(), type="reply", attempt=1, status_code=status, error=error, duration_ms=9
        )
    shown = client.get(f"{list_of(holder)}{webhook.pk}/").content.decode()
    assert all(part in shown for part in ("Delivered", "(204)", "(500)", "No answer within 5 seconds"))


def test_a_blocked_webhook_shows_the_reason_and_is_not_deleted(client: Client, holder: TokenHolder) -> None:
    webhook = a_webhook(holder)
    disable_webhook(webhook_id=webhook.pk, by=SuperAdminFactory(), reason="Floods.")
    page = f"{list_of(holder)}{webhook.pk}/"
    assert "Floods." in client.get(page).content.decode()
    assert client.post(f"{page}delete/").status_code == 403
    assert Webhook.objects.exists()


def test_without_webhooks_the_page_says_so(client: Client, holder: TokenHolder, settings: Any) -> None:
    webhook = a_webhook(holder)
    settings.WEBHOOKS = False
    shown = client.get(list_of(holder)).content.decode()
    assert "sends no webhooks" in shown
    assert "webhooks/new/" not in shown
    assert client.get(f"{list_of(holder)}new/").status_code == 403
    assert create(client, holder).status_code == 403
    assert client.get(f"{list_of(holder)}{webhook.pk}/").status_code == 200


def test_the_webhooks_of_another_agent_do_not_exist(client: Client, holder: TokenHolder, person: Account) -> None:
    for other in (agent_with_token(), agent_with_token(requester=person)):
        page = f"{list_of(holder)}{a_webhook(other).pk}/"
        assert [client.get(page + action).status_code for action in ("", "rotate/", "delete/")] == [404] * 3
        assert [client.post(page + action).status_code for action in ("test/", "rotate/", "delete/")] == [404] * 3
    assert Webhook.objects.count() == 2
