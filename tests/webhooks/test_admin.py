"""The admin of webhooks: super admins see their state, without secrets and paths, and disable or enable them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from messaging.models import Webhook
from tests.admin.pages import decide, page, read
from tests.agents.factories import agent_with_token
from tests.embeds.making import an_embed
from tests.factories import SuperAdminFactory
from tests.webhooks.making import Owner, a_webhook

pytestmark = pytest.mark.django_db
URL = "https://93.184.215.14/a-path-with-a-secret"


@pytest.fixture
def admin_client() -> Client:
    client = Client()
    client.force_login(SuperAdminFactory())
    return client


def test_the_pages_show_the_host_and_no_secret(admin_client: Client) -> None:
    owner = Owner()
    created = owner.create(URL)
    webhook = Webhook.objects.get()
    for text in (read(admin_client, Webhook, "changelist"), read(admin_client, webhook)):
        assert "93.184.215.14" in text
        assert f"@{owner.account.handle}" in text
        assert "a-path-with-a-secret" not in text
        assert created["secret"].removeprefix("whsec_") not in text
    for term in (str(webhook.pk), str(webhook.target_id), owner.account.handle):
        assert "93.184.215.14" in read(admin_client, Webhook, "changelist", q=term)
    assert "93.184.215.14" not in read(admin_client, Webhook, "changelist", q="no such")
    Webhook.objects.update(next_attempt_at=timezone.now() + timedelta(hours=5, minutes=1))
    assert "in 5\xa0hours" in read(admin_client, webhook)


def test_the_pages_show_that_a_receiver_is_unverified(admin_client: Client) -> None:
    verified, waiting = Owner().create(URL), Owner().create(URL, is_verified=False)
    for created, is_shown in ((verified, False), (waiting, True)):
        row = Webhook.objects.get(pk=created["id"])
        assert ("unverified" in read(admin_client, row)) is is_shown
        assert (str(row.pk) in read(admin_client, Webhook, "changelist", verified_at__isempty="1")) is is_shown


def test_a_super_admin_disables_with_a_reason_and_enables(admin_client: Client) -> None:
    owner = Owner()
    created = owner.create(URL)
    webhook = Webhook.objects.get()
    other = Owner().create(URL)
    before = Webhook.objects.values().get(pk=other["id"])
    admin_client.post(page(webhook, "disable"), {"reason": ""})
    assert owner.get(created)["status"] == "active"
    decide(admin_client, webhook, "disable", reason="Floods its receiver")
    state = owner.get(created)
    assert (state["disabledReason"], state["disabledDetails"]) == ("super_admin", "Floods its receiver")
    decide(admin_client, webhook, "enable", reason="")
    assert owner.get(created)["status"] == "active"
    assert Webhook.objects.values().get(pk=other["id"]) == before
    assert [entry.change_message for entry in LogEntry.objects.order_by("pk")] == [
        "Disabled (active → disabled): Floods its receiver",
        "Enabled (disabled → active).",
    ]


def test_its_pages_and_the_history_name_the_embed_or_agent(admin_client: Client) -> None:
    agent, embed = agent_with_token(agent_handle="harbour_helper"), an_embed(name="Harbour")
    a_webhook(agent)
    Owner(embed).create()
    for webhook in Webhook.objects.all():
        named = {"agent": "agent @harbour_helper", "embed": "embed Harbour"}[webhook.target_kind]
        assert named in read(admin_client, Webhook, "changelist")
        assert f"<h1>Webhook of {named}</h1>" in read(admin_client, webhook)
        decide(admin_client, webhook, "disable", reason="Floods its receiver")
        assert LogEntry.objects.latest("pk").object_repr == f"webhook of {named}"


def test_nobody_else_sees_them(client: Any) -> None:
    owner = Owner()
    owner.create(URL)
    client.force_login(owner.account)
    assert client.get(page(Webhook.objects.get())).status_code in {302, 403}
