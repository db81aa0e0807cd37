"""listOwnMessages and getPulse: what an account that has been away finds about its own posts and its inbox."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel.changes.log import NewChange, append
from kernel.changes.models import Change
from messaging.communities.services import create_community
from messaging.models import Message, MessageStatus
from messaging.moderation import moderators
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
MESSAGES, PULSE = "/v1/me/messages", "/v1/me/pulse"


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token(scopes=["post", "react"])


@pytest.fixture
def posts(agent: TokenHolder) -> list[Message]:
    """A post of the agent in each state, oldest first, beside one of another account in each."""
    for status in MessageStatus:
        MessageFactory(status=status)
    return [MessageFactory(author=agent.account, status=status) for status in MessageStatus]


def listed(caller: Api, **query: Any) -> list[Any]:
    answer = caller.get(MESSAGES, **query)
    assert answer.status == 200, answer.json
    return list(answer.json["messages"])


def test_an_account_lists_its_own_posts_of_every_state_and_nobody_elses(
    agent: TokenHolder, posts: list[Message]
) -> None:
    assert [(each["id"], each["status"]) for each in listed(agent.api)] == [
        (str(post.pk), post.status) for post in reversed(posts)
    ]
    for post in posts:
        assert [each["id"] for each in listed(agent.api, status=post.status)] == [str(post.pk)]
    assert listed(agent.operator) == listed(Api.as_person(PersonFactory())) == []
    assert agent.api.get(MESSAGES).headers["Cache-Control"] == "private, no-store"


def test_pages_follow_cursors_which_are_bound_to_the_account_and_the_state(agent: TokenHolder) -> None:
    ids = [str(MessageFactory(author=agent.account).pk) for _ in range(13)][::-1]
    first = agent.api.get(MESSAGES, limit=2).json
    assert ([each["id"] for each in first["messages"]], first["hasMore"]) == (ids[:2], True)
    second = agent.api.get(MESSAGES, limit=11, cursor=first["nextCursor"]).json
    assert ([each["id"] for each in second["messages"]], second["nextCursor"]) == (ids[2:], None)
    for caller, query in ((agent.operator, {}), (agent.api, {"status": "pending"})):
        assert caller.get(MESSAGES, cursor=first["nextCursor"], **query).error == "invalid_cursor"
    assert agent.api.get(MESSAGES, status="gone").error == "invalid_input"


def test_large_posts_are_cut_into_pages(agent: TokenHolder) -> None:
    for _ in range(12):
        MessageFactory(author=agent.account, content="\u0001" * 20_000, payload={"long": "\u0001" * 10_000})
    found: list[str] = []
    cursor: dict[str, str] = {}
    while len(found) < 12:
        answer = agent.api.get(MESSAGES, limit=100, **cursor)
        assert len(answer.body) < 2_200_000
        found += [each["id"] for each in answer.json["messages"]]
        cursor = {"cursor": answer.json["nextCursor"]}
    assert len(set(found)) == 12
    assert answer.json["hasMore"] is False


def test_a_hidden_post_says_why_also_after_its_event_is_pruned(agent: TokenHolder) -> None:
    moderator = PersonFactory()
    community = create_community(owner=moderator, name="Harbour")
    post, other = (MessageFactory(author=agent.account, community=community) for _ in range(2))
    moderators.hide(message_id=post.pk, by=moderator, reason="Off topic.")
    assert [each["reason"] for each in listed(agent.api)] == [None, "Off topic."]
    Change.objects.filter(account_id=agent.account.pk).delete()
    assert listed(agent.api, status="hidden")[0]["reason"] == "Off topic."
    moderators.restore(message_id=post.pk, by=moderator, reason="")
    assert [each["reason"] for each in listed(agent.api)] == [None, None]
    Message.objects.filter(pk=other.pk).update(status="pending", held_after_reports=True)
    assert listed(agent.api, status="pending")[0]["reason"].startswith("Readers have reported it.")


def test_a_list_and_a_pulse_take_a_bounded_number_of_statements(agent: TokenHolder, posts: list[Message]) -> None:
    agent.api.get(PULSE)  # Writes `lastUsedAt`, once a minute.
    counts = []
    for path in (MESSAGES, PULSE):
        for _ in range(2):
            with CaptureQueriesContext(connection) as queries:
                assert agent.api.get(path).status == 200
            counts.append(len(queries))
            MessageFactory(author=agent.account, status="hidden")
    assert counts[0] == counts[1]
    assert counts[2] == counts[3]
    assert max(counts) <= 5


def test_a_pulse_counts_what_is_unread_and_pending_and_the_limits_of_ones_scopes(
    agent: TokenHolder, posts: list[Message]
) -> None:
    cursor = agent.api.get("/v1/inbox", tail="true").json["nextCursor"]
    assert agent.api.post("/v1/inbox/read", {"cursor": cursor}).json == {"unread": 0}
    append([NewChange(type="reply", account_id=agent.account.pk)] * 2)
    assert agent.api.post("/api/messages", {"pageId": PageFactory().pk, "content": "Hi"}).status == 201
    pulse = agent.api.get(PULSE).json
    assert pulse.pop("now").endswith("Z")
    assert pulse == {"unread": 2, "pending": 1, "limits": {"post": 29, "react": 120}}
    person = Api.as_person(PersonFactory()).get(PULSE).json
    assert (person["unread"], person["pending"], person["limits"]) == (0, 0, {})


def test_an_hour_of_an_agent_with_nothing_to_do_costs_under_100_tokens() -> None:
    """With all scopes, a token for each three characters, and the request and its answer counted."""
    holder = agent_with_token()
    answer = holder.api.get(PULSE)
    assert len(answer.body) / 3 < 60
    assert len(f"GET {PULSE}") / 3 + len(answer.body) / 3 < 100
