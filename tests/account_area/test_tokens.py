"""The tokens and the webhooks of an agent on their pages."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from account_area import submissions
from account_area.agents.queries import TOKENS_SHOWN
from account_area.models import Submission
from agents.models import ACTIVE_MAX, AgentToken
from agents.services import create_token, freeze_agent
from messaging.models import Account, Webhook, WebhookDelivery
from messaging.webhooks.services import disable_webhook
from tests.admin.bystanders import Unchanged
from tests.agents.factories import TokenHolder, agent_with_token, expired_tokens
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory
from tests.webhooks.making import GLOBAL_URL, a_webhook

DEADLOCK = "DO $$ BEGIN RAISE 'as of a deadlock' USING ERRCODE = '40P01'; END $$"
pytestmark = pytest.mark.django_db


@contextmanager
def aborted_before_an_equal_form(found: str) -> Iterator[None]:
    """The first try is aborted after it has created its row; the next one finds that an equal form has made `found`."""
    tries = []

    def once(*, create: Callable[[], str], **_arguments: object) -> str:
        tries.append(create)
        if len(tries) == 1:
            create()
            with connection.cursor() as cursor:
                cursor.execute(DEADLOCK)
        return found

    with mock.patch.object(submissions, "_once", once):
        yield
    assert len(tries) == 2


@pytest.fixture
def holder(person: Account) -> TokenHolder:
    return agent_with_token(requester=person)


def list_of(holder: TokenHolder) -> str:
    return f"/account/agents/{holder.account.handle}/tokens/"


def page_of(holder: TokenHolder, action: str) -> str:
    return f"{list_of(holder)}{holder.token.pk}/{action}/"


def create(client: Client, holder: TokenHolder, **changes: Any) -> Any:
    sent = {"submission": str(uuid4()), "label": "<b>laptop", "days": "30"} | changes
    return client.post(f"{list_of(holder)}new/", sent)


def rotate(client: Client, holder: TokenHolder, ends: str, key: object = None) -> Any:
    return client.post(page_of(holder, "rotate"), {"submission": str(key or uuid4()), "old_ends_in": ends})


def works(value: str) -> bool:
    return Api.as_agent(value).get("/v1/agent/self").status == 200


def fill(holder: TokenHolder) -> None:
    for _ in range(ACTIVE_MAX - AgentToken.objects.active().count()):
        create_token(request_id=holder.request.pk, by=holder.request.requester)


def test_a_new_token_is_once_in_one_response(
    client: Client, holder: TokenHolder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    response = create(client, holder)
    value = response.context["value"]
    assert works(value)
    assert response.content.decode().count(value) == 1
    assert response["Cache-Control"] == "private, no-store"
    row = AgentToken.objects.get(prefix=value[:12])
    assert (row.label, (row.expires_at - row.created_at).days) == ("<b>laptop", 30)
    assert "&lt;b&gt;laptop" in client.get(list_of(holder)).content.decode()
    for path in (list_of(holder), f"{list_of(holder)}?made={row.pk}", f"/account/agents/{holder.account.handle}/"):
        assert value not in client.get(path).content.decode()
    stored = [session.get_decoded() for session in Session.objects.all()]
    assert value not in str([stored, list(Submission.objects.values()), caplog.text])


def test_a_second_press_makes_no_token_and_says_that_it_was_shown(client: Client, holder: TokenHolder) -> None:
    key = str(uuid4())
    value = create(client, holder, submission=key).context["value"]
    second = create(client, holder, submission=key, label="another")
    assert second.status_code == 302
    shown = client.get(second["Location"]).content.decode()
    assert "was shown once" in shown
    assert value[:12] in shown
    assert AgentToken.objects.count() == 2


def test_a_second_press_of_a_replacement_that_filled_the_list_says_that_it_was_shown(
    client: Client, holder: TokenHolder
) -> None:
    for _ in range(ACTIVE_MAX - 2):
        create_token(request_id=holder.request.pk, by=holder.request.requester)
    key = uuid4()
    assert rotate(client, holder, "day", key).context["value"]
    assert "made=" in rotate(client, holder, "day", key)["Location"]
    assert AgentToken.objects.active().count() == ACTIVE_MAX
    assert rotate(client, holder, "day").context["form"].non_field_errors()
    assert AgentToken.objects.active().count() == ACTIVE_MAX


@pytest.mark.django_db(transaction=True)
def test_a_token_of_an_aborted_try_is_not_shown(client: Client, holder: TokenHolder) -> None:
    found = f"{list_of(holder)}?made={holder.token.pk}"
    with aborted_before_an_equal_form(found):
        assert create(client, holder)["Location"] == found


@pytest.mark.django_db(transaction=True)
def test_presses_at_the_same_time_make_one_token() -> None:
    holder = agent_with_token()
    key = str(uuid4())

    def press(_number: int) -> int:
        client = Client()
        client.force_login(holder.request.requester)
        return int(create(client, holder, submission=key).status_code)

    assert sorted(race(4, press)) == [200, 302, 302, 302]
    assert AgentToken.objects.count() == 2


def test_a_bad_field_is_shown_in_the_form(client: Client, holder: TokenHolder) -> None:
    for field, value in (
        *(("label", "x" * 81), ("label", "a\u202eb")),
        *(("days", "0"), ("days", "366"), ("days", "x")),
    ):
        assert create(client, holder, **{field: value}).context["form"].errors[field], (field, value)
    assert AgentToken.objects.count() == 1


def test_the_sixth_token_is_refused_and_the_list_needs_a_fixed_number_of_queries(
    client: Client, holder: TokenHolder, django_assert_max_num_queries: Any
) -> None:
    for _ in range(2):
        with django_assert_max_num_queries(6):
            shown = client.get(list_of(holder)).content.decode()
        fill(holder)
    assert "tokens/new/" not in shown
    errors = create(client, holder).context["form"].non_field_errors()
    assert errors == ["Five tokens work, the most allowed. Replace or revoke one."]


def test_a_token_that_works_is_shown_however_many_later_ones_have_ended(client: Client, holder: TokenHolder) -> None:
    expired_tokens(holder, number=TOKENS_SHOWN)
    fill(holder)
    response = client.get(list_of(holder))
    shown = [(token, works) for token, _text, _badge, works in response.context["tokens"]]
    assert [works for _token, works in shown] == [True] * ACTIVE_MAX + [False] * (TOKENS_SHOWN - ACTIVE_MAX)
    assert holder.token in [token for token, _works in shown]
    assert response.context["active"] == ACTIVE_MAX


def test_a_stopped_agent_gets_no_token(client: Client, holder: TokenHolder) -> None:
    freeze_agent(agent=holder.agent, by=SuperAdminFactory())
    assert create(client, holder).context["form"].non_field_errors()
    assert rotate(client, holder, "now").context["form"].non_field_errors()
    shown = client.get(list_of(holder)).content.decode()
    assert "tokens/new/" not in shown
    assert "/revoke/" in shown


def test_the_command_for_the_first_post_works(client: Client, person: Account) -> None:
    """Its body names a page that exists, and a community if the agent is limited."""
    community = CommunityFactory()
    for holder in (
        agent_with_token(requester=person),
        agent_with_token(requester=person, community_ids=[community.pk]),
    ):
        response = create(client, holder)
        command = response.context["snippets"][0].text
        body = command.partition("-d '")[2].rpartition("'")[0]
        sent = Api.as_agent(response.context["value"]).send("POST", "/api/messages", raw=body.encode())
        assert sent.status == 201, sent.json


def test_an_agent_without_posts_gets_a_command_that_reads(client: Client, person: Account) -> None:
    response = create(client, agent_with_token(requester=person, scopes=["react"]))
    assert "/v1/agent/self" in response.context["snippets"][0].text
    assert "cm post" not in response.content.decode()


def test_a_token_is_replaced_and_the_former_one_works_on(client: Client, holder: TokenHolder) -> None:
    key = uuid4()
    response = rotate(client, holder, "week", key)
    value = response.context["value"]
    assert works(value)
    assert works(holder.value)
    assert response.content.decode().count(value) == 1
    assert rotate(client, holder, "week", key).status_code == 302
    assert AgentToken.objects.count() == 2


def test_at_the_limit_the_former_token_ends_at_once(client: Client, holder: TokenHolder, unchanged: Unchanged) -> None:
    fill(holder)
    unchanged(*AgentToken.objects.exclude(pk=holder.token.pk))
    opened = client.get(page_of(holder, "rotate"))
    refused = rotate(client, holder, "day")
    assert refused.context["form"].non_field_errors()
    for response in (opened, refused):
        assert re.findall(r'name="old_ends_in" value="(\w+)"', response.content.decode()) == ["now"]
    assert ("checked" in opened.content.decode(), "checked" in refused.content.decode()) == (True, False)
    assert works(holder.value)
    assert works(rotate(client, holder, "now").context["value"])
    assert not works(holder.value)


def test_a_token_is_revoked_once_after_a_confirmation_and_not_replaced(
    client: Client, holder: TokenHolder, person: Account, unchanged: Unchanged
) -> None:
    second, _value = create_token(request_id=holder.request.pk, by=person)
    unchanged(second, agent_with_token(requester=person).token)
    assert holder.token.prefix in client.get(page_of(holder, "revoke")).content.decode()
    assert works(holder.value)
    for _ in range(2):
        assert client.post(page_of(holder, "revoke"))["Location"] == list_of(holder)
        assert not works(holder.value)
    assert rotate(client, holder, "now").context["form"].non_field_errors()
    assert AgentToken.objects.filter(agent=holder.agent).count() == 2


def test_the_token_of_another_agent_does_not_exist(client: Client, holder: TokenHolder, person: Account) -> None:
    """It exists neither under another agent of the same operator, nor under one of another person."""
    others = [agent_with_token(requester=person), agent_with_token(requester=PersonFactory())]
    for other in others:
        for action in ("rotate", "revoke"):
            path = f"{list_of(holder)}{other.token.pk}/{action}/"
            assert client.get(path).status_code == 404
            assert client.post(path).status_code == 404
        assert works(other.value)


@pytest.fixture(autouse=True)
def _enabled(settings: Any) -> None:
    settings.WEBHOOKS = True


def webhooks_of(holder: TokenHolder) -> str:
    return f"/account/agents/{holder.account.handle}/webhooks/"


def create_webhook(client: Client, holder: TokenHolder, **changes: Any) -> Any:
    sent = {"submission": str(uuid4()), "url": GLOBAL_URL, "types": ["reply"]} | changes
    return client.post(f"{webhooks_of(holder)}new/", sent)


@pytest.mark.django_db(transaction=True)
def test_a_secret_of_an_aborted_try_is_not_shown(client: Client, holder: TokenHolder) -> None:
    webhook = a_webhook(holder)
    page = f"{webhooks_of(holder)}{webhook.pk}/"
    with aborted_before_an_equal_form(f"{page}?made"):
        assert client.post(f"{page}rotate/", {"submission": str(uuid4())})["Location"] == f"{page}?made"


def test_a_webhook_is_created_once_and_its_secret_shown_once(client: Client, holder: TokenHolder) -> None:
    key = str(uuid4())
    response = create_webhook(client, holder, submission=key)
    secret = response.context["secret"]
    webhook = Webhook.objects.get()
    assert (webhook.url, webhook.types, webhook.target_id) == (GLOBAL_URL, ["reply"], holder.account.pk)
    assert response.content.decode().count(secret) == 1
    second = create_webhook(client, holder, submission=key)
    assert second.status_code == 302
    shown = client.get(second["Location"]).content.decode()
    assert "was shown once" in shown
    assert secret not in shown
    assert GLOBAL_URL in client.get(webhooks_of(holder)).content.decode()


def test_a_bad_field_of_a_webhook_is_shown_in_the_form(client: Client, holder: TokenHolder) -> None:
    urls = ("", "http://93.184.215.14/hook", "https://127.0.0.1/hook", "javascript:alert(1)")
    for field, value in (
        *(("url", url) for url in (*urls, "https://example.com/" + "x" * 2048)),
        ("types", ["message.created"]),
    ):
        assert create_webhook(client, holder, **{field: value}).context["form"].errors[field], (field, value)
    assert not Webhook.objects.exists()


def test_a_host_with_too_many_webhooks_is_an_error_of_the_address(
    client: Client, holder: TokenHolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.webhooks.services.WEBHOOKS_OF_HOST_MAX", 1)
    a_webhook(holder)
    errors = create_webhook(client, holder).context["form"].errors
    assert "at this host" in errors["url"][0]
    assert Webhook.objects.count() == 1


def test_test_rotation_and_deletion(client: Client, holder: TokenHolder, unchanged: Unchanged) -> None:
    webhook = a_webhook(holder)
    unchanged(a_webhook(holder), a_webhook(agent_with_token()))
    page = f"{webhooks_of(holder)}{webhook.pk}/"
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
    assert client.post(f"{page}delete/")["Location"] == webhooks_of(holder)
    assert client.get(page).status_code == 404


def test_the_page_has_the_deliveries_with_their_outcome(client: Client, holder: TokenHolder) -> None:
    webhook = a_webhook(holder)
    for error, status in (("", 204), ("refused", 500), ("timeout", None), ("of another release", None)):
        WebhookDelivery.objects.create(
            webhook=webhook, event_id=uuid4(), type="reply", attempt=1, status_code=status, error=error, duration_ms=9
        )
    shown = client.get(f"{webhooks_of(holder)}{webhook.pk}/").content.decode()
    assert all(
        part in shown for part in ("Delivered", "(204)", "(500)", "No answer within 5 seconds", "of another release")
    )


def test_the_pages_say_that_a_receiver_has_not_answered_its_challenge(client: Client, holder: TokenHolder) -> None:
    response = create_webhook(client, holder)
    verified = a_webhook(holder)
    waiting = Webhook.objects.exclude(pk=verified.pk).get()
    waiting.deliveries.create(
        event_id=uuid4(), type="webhook.challenge", attempt=1, status_code=204, error="challenge_failed", duration_ms=9
    )
    assert "gets a challenge first" in response.content.decode()
    assert client.get(webhooks_of(holder)).content.decode().count("Waits for its receiver") == 1
    pages = [client.get(f"{webhooks_of(holder)}{each.pk}/").content.decode() for each in (waiting, verified)]
    assert ["gets a challenge first" in page for page in pages] == [True, False]
    assert "The answer was not the challenge" in pages[0]
    # A super admin disabled it: nothing is asked.
    disable_webhook(webhook_id=waiting.pk, by=SuperAdminFactory(), reason="Floods.")
    assert "Waits for its receiver" not in client.get(webhooks_of(holder)).content.decode()


def test_a_blocked_webhook_shows_the_reason_and_is_not_deleted(client: Client, holder: TokenHolder) -> None:
    webhook = a_webhook(holder)
    disable_webhook(webhook_id=webhook.pk, by=SuperAdminFactory(), reason="Floods.")
    page = f"{webhooks_of(holder)}{webhook.pk}/"
    assert "Floods." in client.get(page).content.decode()
    assert client.post(f"{page}delete/").status_code == 403
    assert Webhook.objects.exists()


def test_without_webhooks_the_page_says_so(client: Client, holder: TokenHolder, settings: Any) -> None:
    webhook = a_webhook(holder)
    settings.WEBHOOKS = False
    shown = client.get(webhooks_of(holder)).content.decode()
    assert "sends no webhooks" in shown
    assert "webhooks/new/" not in shown
    assert client.get(f"{webhooks_of(holder)}new/").status_code == 403
    assert create_webhook(client, holder).status_code == 403
    assert client.get(f"{webhooks_of(holder)}{webhook.pk}/").status_code == 200


def test_the_webhooks_of_another_agent_do_not_exist(client: Client, holder: TokenHolder, person: Account) -> None:
    for other in (agent_with_token(), agent_with_token(requester=person)):
        page = f"{webhooks_of(holder)}{a_webhook(other).pk}/"
        assert [client.get(page + action).status_code for action in ("", "rotate/", "delete/")] == [404] * 3
        assert [client.post(page + action).status_code for action in ("test/", "rotate/", "delete/")] == [404] * 3
    assert Webhook.objects.count() == 2
