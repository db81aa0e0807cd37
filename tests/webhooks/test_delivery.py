"""What is delivered, in which order, and what follows a failed attempt."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from agents.services import freeze_agent
from embeds.services import disable_embed, enable_embed, update_embed
from kernel.changes import reading
from kernel.changes.log import NewChange, append
from kernel.changes.models import Change
from kernel.changes.pruning import STORED_DAYS, prune
from kernel.database.sql import database_now
from messaging.accounts.services import suspend_person, unsuspend_person
from messaging.changes.types import ChangeType
from messaging.models import Message, PostsChoice, Webhook
from messaging.moderation.services import hide_message
from messaging.privacy.erasing import cancel_erasure, request_erasure
from messaging.webhooks import turns
from messaging.webhooks import turns as outcomes
from messaging.webhooks.services import disable_webhook, enable_webhook
from messaging.webhooks.targets import channels_of
from messaging.webhooks.turns import lease, next_attempt, pause_after, waiting_webhooks
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.operations.values import value
from tests.sessions import wait_until_another_waits
from tests.webhooks.making import WEBHOOKS, Owner, a_webhook, send_events
from tests.webhooks.receiver import Receiver, status

pytestmark = pytest.mark.django_db(transaction=True)


class Site:
    """An embed with a webhook, and an author who posts in its community."""

    def __init__(self, receiver: Receiver, **fields: Any) -> None:
        self.owner, self.author = Owner(), Api.as_person(PersonFactory())
        self.page = PageFactory()
        self.webhook = self.owner.create(receiver.url, **fields)

    def post(self, content: str = "Hello", **fields: Any) -> str:
        body = {"pageId": self.page.pk, "content": content, "communityId": str(self.owner.embed.community_id)}
        answer = self.author.post("/api/messages", body | fields)
        assert answer.status == 201, answer.json
        return str(answer.json["id"])

    def send(self) -> list[bool]:
        return [outcome.is_delivered for outcome in send_events(self.webhook["id"])]

    def state(self) -> Any:
        return self.owner.get(self.webhook)

    def retry_now(self) -> None:
        Webhook.objects.update(next_attempt_at=None)


def contents(receiver: Receiver) -> list[str | None]:
    return [(request.json["message"] or {}).get("content") for request in receiver.received]


def test_the_changes_of_the_community_are_delivered_in_order(receiver: Receiver) -> None:
    early = MessageFactory()
    site = Site(receiver)
    first = site.post("first")
    site.author.post("/v1/reactions", {"messageId": first, "emoji": "👍"})
    site.author.post("/api/messages", {"pageId": early.page_id, "content": "outside the community"})
    site.post("second")
    assert site.send() == [True, True, True]
    assert [request.json["type"] for request in receiver.received] == [
        "message.created",
        "reaction.added",
        "message.created",
    ]
    assert contents(receiver) == ["first", "first", "second"]
    assert receiver.received[1].json["reaction"]["emoji"] == "👍"
    assert len(set(receiver.first_ids())) == 3
    assert waiting_webhooks() == []


def test_a_request_is_counted_by_its_result(receiver: Receiver) -> None:
    before = {result: value("webhook_attempts_total", result=result) for result in ("delivered", "failed")}
    site = Site(receiver, types=["message.created"])
    receiver.respond = status(500)
    site.post()
    assert site.send() == [False]
    receiver.respond = status(204)
    site.retry_now()
    assert site.send() == [True]
    for result, count in before.items():
        assert value("webhook_attempts_total", result=result) == count + 1


def test_an_item_is_that_of_the_list_and_its_id_a_cursor_there(receiver: Receiver) -> None:
    site = Site(receiver, types=["message.created"])
    site.post("first")
    site.post("second")
    site.send()
    community = str(site.owner.embed.community_id)
    query = {"communityId": community, "types": "message.created"}
    listed = Api().get("/v1/changes", **query, cursor=receiver.received[0].json["id"]).json["changes"]
    assert listed == [receiver.received[1].json]


def test_the_inbox_of_an_agent_is_delivered_to_its_operator(receiver: Receiver) -> None:
    agent, page = agent_with_token(), PageFactory()
    webhook = a_webhook(agent, receiver.url)
    post = agent.api.post("/api/messages", {"pageId": page.pk, "content": "A question"}).json
    answer = Api.as_person(PersonFactory()).post(
        "/api/messages", {"pageId": page.pk, "content": "An answer", "parentId": post["id"]}
    )
    assert [outcome.is_delivered for outcome in send_events(webhook.pk)] == [True]
    (request,) = receiver.received
    assert (request.json["type"], request.json["messageId"]) == ("reply", answer.json["id"])
    listed = agent.api.get("/v1/inbox").json["events"]
    assert listed[-1] | {"id": ""} == request.json | {"id": ""}
    assert agent.api.get("/v1/inbox", cursor=request.json["id"]).json["events"] == []


def test_only_the_chosen_types_are_delivered(receiver: Receiver) -> None:
    site = Site(receiver, types=["reaction.added"])
    first = site.post()
    site.author.post("/v1/reactions", {"messageId": first, "emoji": "👍"})
    assert site.send() == [True]
    assert receiver.received[0].json["type"] == "reaction.added"


def test_a_post_that_was_hidden_meanwhile_is_not_shown(receiver: Receiver) -> None:
    site = Site(receiver)
    post = site.post("to be hidden")
    receiver.respond = status(500)
    assert site.send() == [False]
    hide_message(message_id=Message.objects.get(pk=post).pk, by=SuperAdminFactory())
    receiver.respond = status(200)
    site.retry_now()
    assert site.send() == [True, True]
    assert contents(receiver) == ["to be hidden", None, None]
    assert receiver.received[0].id == receiver.received[1].id


def test_a_failed_event_is_repeated_before_later_ones(receiver: Receiver) -> None:
    site = Site(receiver)
    site.post("first")
    site.post("second")
    receiver.respond = status(503)
    assert site.send() == [False]
    state = site.state()
    assert (state["status"], state["failingSince"] is not None) == ("failing", True)
    assert waiting_webhooks() == []
    assert lease(Webhook.objects.get().pk) is None
    receiver.respond = status(200)
    site.retry_now()
    assert site.send() == [True, True]
    assert contents(receiver) == ["first", "first", "second"]
    state = site.state()
    assert (state["status"], state["failingSince"], state["nextAttemptAt"]) == ("active", None, None)
    assert [(each["attempt"], each["statusCode"]) for each in state["deliveries"]] == [(1, 200), (2, 200), (1, 503)]


def test_the_pauses_grow_and_differ() -> None:
    pauses = [[pause_after(failures) for _ in range(200)] for failures in range(1, 12)]
    assert timedelta(seconds=4) <= min(pauses[0]) < max(pauses[0]) <= timedelta(seconds=6)
    assert all(max(shorter) < min(longer) for shorter, longer in pairwise(pauses[:8]))
    assert max(pauses[-1]) <= timedelta(hours=3) * (1 + outcomes.JITTER)
    assert pause_after(10_000) <= timedelta(hours=4)
    # The last attempt is the first one after a day; a server that never agreed gets as many challenges.
    shortest, attempts = timedelta(), 1
    while shortest < outcomes.GIVE_UP_AFTER:
        shortest += min(outcomes.FIRST_PAUSE * 3 ** (attempts - 1), outcomes.LONGEST_PAUSE) * (1 - outcomes.JITTER)
        attempts += 1
    assert attempts < 20


def test_after_a_day_of_failures_it_is_disabled_until_a_test_succeeds(receiver: Receiver) -> None:
    site = Site(receiver)
    site.post("waits")
    receiver.respond = status(500)
    site.send()
    Webhook.objects.update(failing_since=Now() - timedelta(hours=24), next_attempt_at=None)
    assert site.send() == [False]
    assert (site.state()["status"], site.state()["disabledReason"]) == ("disabled", "unreachable")
    assert waiting_webhooks() == []
    path = f"{WEBHOOKS}/{site.webhook['id']}/test"
    tests = [site.owner.api.post(path) for _ in range(2)]
    assert [answer.status for answer in tests] == [202, 202]
    assert tests[0].json == tests[1].json
    assert site.send() == [False]
    assert site.state()["status"] == "disabled"
    receiver.respond = status(200)
    site.owner.api.post(path)
    assert site.send() == [True, True]
    assert [request.json["type"] for request in receiver.received[-2:]] == ["webhook.test", "message.created"]
    assert (site.state()["status"], site.state()["disabledReason"]) == ("active", None)


def test_a_receiver_that_is_gone_disables_at_once_and_no_other_webhook(receiver: Receiver) -> None:
    site, other = Site(receiver), Site(receiver)
    site.post()
    receiver.respond = status(410)
    assert site.send() == [False]
    assert (site.state()["status"], site.state()["disabledReason"]) == ("disabled", "gone")
    assert other.state()["status"] == "active"


def test_a_super_admin_disables_it_and_only_a_super_admin_enables_it(receiver: Receiver) -> None:
    site, other, boss = Site(receiver), Site(receiver), SuperAdminFactory()
    site.post()
    webhook_id = UUID(site.webhook["id"])
    disable_webhook(webhook_id=webhook_id, by=boss, reason="Floods")
    state = site.state()
    assert (state["disabledReason"], state["disabledDetails"]) == ("super_admin", "Floods")
    assert other.state()["status"] == "active"
    answer = site.owner.api.post(f"{WEBHOOKS}/{webhook_id}/test")
    assert (answer.status, answer.error) == (403, "webhook_blocked")
    assert waiting_webhooks() == []
    enable_webhook(webhook_id=webhook_id, by=boss)
    assert site.send() == [True]


def test_a_super_admin_disables_it_during_an_attempt(receiver: Receiver) -> None:
    site = Site(receiver)
    site.post()
    site.post()
    webhook_id = Webhook.objects.get().pk

    def respond(handler: Any) -> None:
        disable_webhook(webhook_id=webhook_id, by=SuperAdminFactory(), reason="Floods")
        status(200)(handler)

    receiver.respond = respond
    assert len(site.send()) == 1
    assert site.state()["disabledReason"] == "super_admin"


def test_without_its_embed_nothing_is_sent(receiver: Receiver) -> None:
    site, other, boss = Site(receiver), Site(receiver), SuperAdminFactory()
    disable_embed(embed_id=site.owner.embed.pk, by=boss)
    assert site.send() == []
    assert other.state()["status"] == "active"
    assert (site.state()["status"], site.state()["disabledReason"]) == ("disabled", "target_unavailable")
    site.post()
    enable_embed(embed_id=site.owner.embed.pk, by=boss)
    assert site.state()["status"] == "active"
    assert site.send() == [True]


@pytest.mark.parametrize("is_first_look", [True, False])
def test_a_webhook_whose_target_comes_back_meanwhile_goes_on(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, is_first_look: bool
) -> None:
    """The deliverer has looked for the target, and has not disabled the webhook yet."""
    site, boss = Site(receiver), SuperAdminFactory()
    disable_embed(embed_id=site.owner.embed.pk, by=boss)
    looks = [is_first_look, not is_first_look]

    def enable(_number: int) -> None:
        enable_embed(embed_id=site.owner.embed.pk, by=boss)

    with ThreadPoolExecutor(1) as pool:

        def look(webhooks: Any) -> Any:
            found = channels_of(webhooks)
            if looks and looks.pop(0):
                enabled = pool.submit(race, 1, enable)
                if is_first_look:
                    enabled.result()
                else:
                    wait_until_another_waits()
            return found

        monkeypatch.setattr(turns, "channels_of", look)
        send_events(site.webhook["id"])
    assert looks == []
    assert site.state()["status"] == "active"


def test_the_operator_of_a_frozen_agent_gets_its_events(receiver: Receiver) -> None:
    agent = agent_with_token()
    webhook = a_webhook(agent, receiver.url)
    freeze_agent(agent=agent.agent, by=SuperAdminFactory(), reason="Spam")
    assert [outcome.is_delivered for outcome in send_events(webhook.pk)] == [True]
    assert [request.json["type"] for request in receiver.received] == ["agent_frozen"]
    assert Webhook.objects.get().status == "active"


def test_a_suspended_operator_gets_nothing(receiver: Receiver) -> None:
    agent = agent_with_token()
    webhook, other = a_webhook(agent, receiver.url), a_webhook(agent_with_token(), receiver.url)
    suspend_person(person=agent.request.requester, by=SuperAdminFactory())
    assert send_events(webhook.pk) == []
    assert Webhook.objects.get(pk=webhook.pk).disabled_reason == "target_unavailable"
    assert Webhook.objects.get(pk=other.pk).status == "active"


@pytest.mark.parametrize("wait", [False, True])
def test_what_happened_while_an_operator_was_away_is_sent_afterwards(receiver: Receiver, wait: bool) -> None:
    agent, boss = agent_with_token(), SuperAdminFactory()
    webhook, person = a_webhook(agent, receiver.url), agent.request.requester
    if wait:
        request_erasure(person=person, posts=PostsChoice.ANONYMOUS, by=person)
    else:
        suspend_person(person=person, by=boss)
    freeze_agent(agent=agent.agent, by=boss, reason="Spam")
    assert send_events(webhook.pk) == []
    if wait:
        cancel_erasure(person=person, by=person)
    else:
        unsuspend_person(person=person, by=boss)
    assert [outcome.is_delivered for outcome in send_events(webhook.pk)] == [True]


def test_a_webhook_that_a_super_admin_disabled_stays_so(receiver: Receiver) -> None:
    agent, boss = agent_with_token(), SuperAdminFactory()
    webhook, person = a_webhook(agent, receiver.url), agent.request.requester
    disable_webhook(webhook_id=webhook.pk, by=boss, reason="Floods")
    suspend_person(person=person, by=boss)
    unsuspend_person(person=person, by=boss)
    assert Webhook.objects.get().disabled_reason == "super_admin"


def test_a_test_of_a_webhook_without_its_embed_is_refused(receiver: Receiver) -> None:
    site = Site(receiver)
    disable_embed(embed_id=site.owner.embed.pk, by=SuperAdminFactory())
    answer = site.owner.api.post(f"{WEBHOOKS}/{site.webhook['id']}/test")
    assert (answer.status, answer.error) == (404, "webhook_target_not_found")


def test_a_test_that_is_requested_during_the_last_attempt_is_sent(receiver: Receiver) -> None:
    site = Site(receiver)
    site.post()

    def respond(handler: Any) -> None:
        site.owner.api.post(f"{WEBHOOKS}/{site.webhook['id']}/test")
        status(410)(handler)

    receiver.respond = respond
    assert site.send() == [False]
    assert site.state()["disabledReason"] == "gone"
    receiver.respond = status(200)
    assert site.send() == [True, True]
    assert [request.json["type"] for request in receiver.received[1:]] == ["webhook.test", "message.created"]


def test_a_test_that_is_requested_while_its_embed_is_missing_for_a_moment_is_sent(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(receiver)

    def no_channels(_webhooks: Any) -> dict[Any, Any]:
        site.owner.api.post(f"{WEBHOOKS}/{site.webhook['id']}/test")
        return {}

    with monkeypatch.context() as patch:
        patch.setattr(turns, "channels_of", no_channels)
        assert site.send() == []
    assert site.send() == [True]
    assert receiver.received[0].json["type"] == "webhook.test"


def test_a_webhook_that_a_super_admin_disables_during_its_turn_stays_so(receiver: Receiver) -> None:
    site, boss = Site(receiver), SuperAdminFactory()
    webhook_id = Webhook.objects.get().pk
    lease_id = lease(webhook_id)
    assert lease_id is not None
    disable_embed(embed_id=site.owner.embed.pk, by=boss)
    disable_webhook(webhook_id=webhook_id, by=boss, reason="Floods")
    assert next_attempt(lease_id) is None
    state = site.state()
    assert (state["disabledReason"], state["disabledDetails"]) == ("super_admin", "Floods")


def test_an_embed_that_moves_to_another_community_reports_that_one(receiver: Receiver) -> None:
    site = Site(receiver)
    other = CommunityFactory()
    update_embed(embed_id=site.owner.embed.pk, owner=site.owner.account, community_id=other.pk)
    site.post("there", communityId=str(other.pk))
    assert site.send() == [True]


def test_an_expired_cursor_is_told_by_a_resync_event(receiver: Receiver) -> None:
    site = Site(receiver)
    site.post("lost")
    Webhook.objects.update(generation=F("generation") + 1)
    assert [waiting.id for waiting in waiting_webhooks()] == [Webhook.objects.get().pk]
    receiver.respond = status(500)
    assert site.send() == [False]
    site.retry_now()
    receiver.respond = status(200)
    assert site.send() == [True]
    assert [request.json["type"] for request in receiver.received] == ["webhook.resync"] * 2
    assert len(receiver.first_ids()) == 1
    site.post("after")
    assert site.send() == [True]


def test_events_that_were_deleted_before_their_delivery_are_told(receiver: Receiver) -> None:
    site = Site(receiver)
    site.post("deleted")
    Change.objects.update(at=Now() - timedelta(days=STORED_DAYS + 1))
    assert prune(now=database_now(), dry_run=False) == {"changes": 1}
    site.post("before the resync")
    assert site.send() == [True]
    site.post("after the resync")
    assert site.send() == [True]
    assert [request.json["type"] for request in receiver.received] == ["webhook.resync", "message.created"]


def test_a_round_writes_nothing_and_reads_no_secrets(receiver: Receiver) -> None:
    Site(receiver)
    with CaptureQueriesContext(connection) as captured:
        assert waiting_webhooks() == []
    statements = " ".join(query["sql"] for query in captured)
    assert "messaging_webhook" in statements
    assert not any(word in statements for word in ("UPDATE", "secret", '"url"'))


def test_the_cursor_of_a_webhook_without_events_moves_once_an_hour(receiver: Receiver) -> None:
    site = Site(receiver)
    before = Webhook.objects.get()
    append([NewChange(type=ChangeType.MESSAGE_CREATED)])
    assert waiting_webhooks() == []
    assert Webhook.objects.get().xid == before.xid
    Webhook.objects.update(checked_at=Now() - turns.IDLE)
    waiting_webhooks()
    assert Webhook.objects.get().xid > before.xid
    site.post("still delivered")
    assert site.send() == [True]


def test_the_cursor_of_a_webhook_moves_over_other_rows_of_its_last_transaction(receiver: Receiver) -> None:
    """Otherwise it would expire when these are deleted."""
    site = Site(receiver)
    communities = [site.owner.embed.community_id, None]
    append([NewChange(type=ChangeType.MESSAGE_CREATED, community_id=each) for each in communities])
    assert site.send() == [True]
    # As after a process that was killed when it had stored the delivery.
    Webhook.objects.update(row_id=F("row_id") - 1, checked_at=Now() - turns.IDLE)
    assert waiting_webhooks() == []
    assert Webhook.objects.get().cursor == reading.now()


def test_one_process_at_a_time_delivers_a_webhook(receiver: Receiver) -> None:
    site = Site(receiver)
    site.post("first")
    webhook_id = Webhook.objects.get().pk
    stopped = lease(webhook_id)
    assert stopped is not None
    attempt = next_attempt(stopped)
    assert attempt is not None
    assert lease(webhook_id) is None
    assert waiting_webhooks() == []
    # Its lease expires, another process delivers, and then it goes on.
    Webhook.objects.update(leased_until=Now() - timedelta(seconds=1))
    site.post("second")
    assert site.send() == [True, True]
    assert next_attempt(stopped) is None
    assert not outcomes.record(attempt, outcomes.Outcome(200, None, 1))
    assert waiting_webhooks() == []
