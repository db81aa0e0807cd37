"""The hourly limits of agents in the contract's table: exact, sliding, separate."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kernel.writes.models import RateLimitEvent
from messaging.models import Message
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.config_writes.clock import DatabaseClock
from tests.factories import MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/api/messages"
HOUR = 3600


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def target() -> Message:
    return MessageFactory()


@pytest.fixture
def clock() -> DatabaseClock:
    return DatabaseClock()


@pytest.fixture
def low(settings: Any) -> None:
    settings.HOURLY_LIMITS = {"post": 3, "reply": 3, "quote": 3, "react": 3}


def post(agent: TokenHolder, target: Message, *responses: str) -> Answer:
    fields = dict.fromkeys(responses, str(target.pk))
    return agent.api.post(PATH, {"pageId": target.page_id, "content": "Hi", **fields})


def write(agent: TokenHolder, target: Message, counter: str, number: int) -> Answer:
    """A write that is charged to `counter`."""
    if counter == "react":
        body = {"messageId": str(target.pk), "emoji": ("👍", "🎉")[number % 2]}
        return agent.api.post("/v1/reactions", body)
    return post(agent, target, *{"post": (), "reply": ("parentId",), "quote": ("quoteId",)}[counter])


@pytest.mark.parametrize(("counter", "limit"), [("post", 30), ("reply", 30), ("quote", 30), ("react", 120)])
def test_the_limits_are_those_of_the_contract(agent: TokenHolder, target: Message, counter: str, limit: int) -> None:
    RateLimitEvent.objects.bulk_create(
        RateLimitEvent(account_id=agent.account.pk, counter=counter, at=target.created_at) for _ in range(limit - 1)
    )
    last, over = (write(agent, target, counter, number) for number in range(2))
    assert last.status in {200, 201}
    assert last.headers["RateLimit-Policy"] == f'"{counter}";q={limit};w=3600'
    assert re.fullmatch(rf'"{counter}";r=0;t=(3600|35\d\d)', last.headers["RateLimit"])
    assert (over.status, over.error) == (429, "agent_rate_limited")
    assert over.headers["RateLimit-Policy"] == f'"{counter}";q={limit};w=3600'
    assert over.headers["RateLimit"] == f'"{counter}";r=0;t={over.headers["Retry-After"]}'
    assert over.error == "agent_rate_limited"
    for other in {"post", "reply", "quote", "react"} - {counter}:
        assert write(agent, target, other, 0).status in {200, 201}, f"{other} is another counter than {counter}"


@pytest.mark.django_db(transaction=True)
def test_of_forty_concurrent_posts_thirty_succeed() -> None:
    agent, target = agent_with_token(), MessageFactory()
    responses = race(40, lambda _index: post(agent, target))
    assert sorted(response.status for response in responses) == [201] * 30 + [429] * 10
    assert (Message.objects.count(), RateLimitEvent.objects.count()) == (31, 30)
    left = sorted(int(re.findall(r"r=(\d+)", response.headers["RateLimit"])[0]) for response in responses)
    assert left == [0] * 10 + list(range(30))


@pytest.mark.usefixtures("low")
def test_a_write_succeeds_after_retry_after_and_not_one_second_before(
    agent: TokenHolder, target: Message, clock: DatabaseClock
) -> None:
    for pause in (1.25, 100.5, 0.000001):
        assert post(agent, target).status == 201
        clock.advance(pause)
    retry_after = int(post(agent, target).headers["Retry-After"])
    assert retry_after == HOUR - 101
    clock.advance(retry_after - 1)
    refused = post(agent, target)
    assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
    clock.advance(1)
    assert post(agent, target).status == 201
    assert post(agent, target).headers["Retry-After"] == "1", "the second event leaves within the next second"
    clock.advance(1)
    assert post(agent, target).status == 201


@pytest.mark.usefixtures("low")
def test_a_lowered_limit_counts_earlier_writes(
    agent: TokenHolder, target: Message, clock: DatabaseClock, settings: Any
) -> None:
    for _ in range(3):
        post(agent, target)
        clock.advance(10)
    settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 1}
    retry_after = int(post(agent, target).headers["Retry-After"])
    assert retry_after == HOUR - 10, "the newest of the three must leave the window"
    clock.advance(retry_after)
    assert post(agent, target).status == 201


@pytest.mark.usefixtures("low")
def test_a_reply_that_quotes_charges_both_counters_and_waits_for_the_slower_one(
    agent: TokenHolder, target: Message, clock: DatabaseClock
) -> None:
    both = post(agent, target, "parentId", "quoteId")
    assert both.headers["RateLimit"] == '"quote";r=2;t=3600, "reply";r=2;t=3600'
    assert both.headers["RateLimit-Policy"] == '"quote";q=3;w=3600, "reply";q=3;w=3600'
    assert sorted(RateLimitEvent.objects.values_list("counter", flat=True)) == ["quote", "reply"]
    clock.advance(HOUR)
    for counter in ("quoteId", "parentId"):
        for _ in range(3):
            post(agent, target, counter)
        clock.advance(60)
    charged = RateLimitEvent.objects.count()
    refused = post(agent, target, "parentId", "quoteId")
    assert refused.headers["Retry-After"] == str(HOUR - 60), "the quotes leave the window a minute before the replies"
    assert RateLimitEvent.objects.count() == charged, "a refusal by one counter charges none"
    clock.advance(HOUR - 61)
    assert post(agent, target, "parentId", "quoteId").status == 429
    clock.advance(1)
    assert post(agent, target, "parentId", "quoteId").status == 201


@pytest.mark.usefixtures("low")
def test_removing_and_repeating_a_reaction_charge_react(agent: TokenHolder, target: Message) -> None:
    body = {"messageId": str(target.pk), "emoji": "👍"}
    added, unchanged = (agent.api.post("/v1/reactions", body) for _ in range(2))
    assert unchanged.json["action"] == "unchanged"
    removed = agent.api.delete(f"/v1/reactions/{added.json['reactionId']}")
    assert removed.headers["RateLimit"].startswith('"react";r=0')
    assert agent.api.post("/v1/reactions", body).error == "agent_rate_limited"


@pytest.mark.usefixtures("low")
def test_refused_requests_are_not_charged(agent: TokenHolder, target: Message) -> None:
    assert agent.api.post(PATH, {"pageId": target.page_id}).status == 400
    assert agent.api.delete("/v1/reactions/nonsense").status == 404
    assert post(agent_with_token(scopes=["react"]), target).status == 403
    assert not RateLimitEvent.objects.exists()


@pytest.mark.usefixtures("low", "clock")
def test_agents_have_separate_counters_which_their_tokens_share_and_people_have_none(
    agent: TokenHolder, target: Message
) -> None:
    operator = Api.as_person(agent.request.requester)
    other = Api.as_agent(operator.post(f"/v1/agent-tokens/requests/{agent.request.pk}/token").json["token"])
    body = {"pageId": target.page_id, "content": "Hi"}
    responses = [api.post(PATH, body) for api in (agent.api, other) * 2]
    assert [response.status for response in responses] == [201, 201, 201, 429]
    assert responses[-1].headers["Retry-After"] == str(HOUR), "at most an hour"
    assert post(agent_with_token(), target).status == 201
    person = Api.as_person(PersonFactory())
    for _ in range(4):
        response = person.post(PATH, {"pageId": target.page_id, "content": "Hi"})
        assert (response.status, "RateLimit" in response.headers) == (201, False)
