"""A replay needs the right of today: what has been lost since the first call refuses the repeat, key or no key."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models import AgentToken
from agents.services import narrow_agent
from config.writes.models import RateLimitEvent
from messaging.models import Account, Message
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
KEY = "once"


@pytest.fixture
def boss() -> Account:
    return SuperAdminFactory()


def demote(account: Account) -> None:
    Account.objects.filter(pk=account.pk).update(is_superuser=False, is_staff=False)


def said(answer: Answer) -> tuple[int, str | None, str | None]:
    return answer.status, answer.json.get("error"), answer.headers.get("Idempotent-Replayed")


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_demoted_super_admin_repeats_no_decision(boss: Account, decision: str) -> None:
    path, admin = f"/v1/agent-tokens/requests/{RequestFactory().pk}/{decision}", Api.as_person(boss)
    assert said(admin.post(path, {}, key=KEY)) == (200, None, None)
    assert said(admin.post(path, {}, key=KEY)) == (200, None, "true")
    demote(boss)
    for key in (KEY, "another", None):
        assert said(admin.post(path, {}, key=key)) == (403, "super_admin_required", None)


def test_a_demoted_super_admin_is_refused_before_anything_of_the_call_is_looked_at(boss: Account) -> None:
    demote(boss)
    admin = Api.as_person(boss)
    for path in ("/v1/agent-tokens/requests/x/approve", f"/v1/agent-tokens/requests/{RequestFactory().pk}/reject"):
        assert admin.post(path, {"reason": 5}, key="é").error == "super_admin_required"
        assert admin.post(path, raw=b"{").error == "super_admin_required"


def test_a_demoted_super_admin_repeats_no_revocation_of_anothers_token(boss: Account) -> None:
    held, admin = agent_with_token(), Api.as_person(boss)
    path = f"/v1/agent-tokens/{held.token.pk}/revoke"
    assert said(admin.post(path, {}, key=KEY)) == (200, None, None)
    assert said(admin.post(path, {}, key=KEY)) == (200, None, "true")
    demote(boss)
    assert said(admin.post(path, {}, key=KEY)) == (404, "token_not_found", None)
    assert said(held.operator.post(path, {}, key=KEY)) == (200, None, None), "its operator may"


class Limited:
    """An agent limited to one community, with a post there that can be repeated by key."""

    def __init__(self) -> None:
        self.community, self.other = CommunityFactory(), CommunityFactory()
        self.agent: TokenHolder = agent_with_token(community_ids=[self.community.pk, self.other.pk])
        self.page: Any = PageFactory()
        self.post = MessageFactory(community=self.community)

    def write(self, key: str | None = KEY, **changes: Any) -> Answer:
        body = {"pageId": self.page.pk, "content": "Hi", "communityId": str(self.community.pk)} | changes
        return self.agent.api.post("/api/messages", body, key=key)

    def react(self, key: str | None = KEY) -> Answer:
        return self.agent.api.post("/v1/reactions", {"messageId": str(self.post.pk), "emoji": "👍"}, key=key)

    def narrow(self) -> None:
        narrow_agent(agent=self.agent.agent, by=SuperAdminFactory(), community_ids=[self.other.pk])


REFUSED = (403, "agent_community_not_allowed", None)


def test_a_post_is_not_replayed_to_an_agent_that_lost_the_community() -> None:
    world = Limited()
    assert [said(world.write())[::2] for _ in range(2)] == [(201, None), (201, "true")]
    world.narrow()
    assert said(world.write()) == said(world.write(key=None)) == REFUSED
    assert Message.objects.filter(page=world.page).count() == 1
    assert RateLimitEvent.objects.count() == 1


def test_a_reaction_is_not_replayed_to_an_agent_that_lost_the_community() -> None:
    world = Limited()
    assert [said(world.react())[::2] for _ in range(2)] == [(200, None), (200, "true")]
    world.narrow()
    assert said(world.react()) == said(world.react(key=None)) == REFUSED


def test_another_body_gets_no_answer_of_a_lost_community() -> None:
    """What the stored answer is about counts, not what the repeat names."""
    world = Limited()
    world.write()
    world.react(key="react")
    world.narrow()
    allowed = MessageFactory(community=world.other)
    assert said(world.write(communityId=str(world.other.pk))) == REFUSED
    for message_id in (str(allowed.pk), "x", None):
        body = {"messageId": message_id, "emoji": "👍"}
        assert said(world.agent.api.post("/v1/reactions", body, key="react")) == REFUSED


def test_a_replay_that_is_found_after_the_lock_is_refused_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first call was still at work when this one looked its token up."""
    world = Limited()
    world.react()
    world.narrow()
    monkeypatch.setattr("config.writes.middleware.Write.find_replay", lambda _write: None)
    assert said(world.react()) == REFUSED


@pytest.mark.parametrize(
    "body",
    [
        {"communityId": None},
        {"communityId": "0199f000-0000-7000-8000-000000000000"},
        {"communityId": "0199f000-0000-7000-8000-000000000000", "pageId": "x", "content": 5},
        {"communityId": None, "content": "x" * 20_001},
    ],
)
def test_the_community_comes_before_the_fields(body: dict[str, Any]) -> None:
    world = Limited()
    for key in (None, KEY, "é"):
        assert said(world.write(key=key, **body)) == REFUSED


@pytest.mark.parametrize("value", [5, "x", [], {}, True, "", "\x00"])
def test_what_is_no_id_at_all_is_400(value: Any) -> None:
    assert said(Limited().write(communityId=value))[:2] == (400, "invalid_input")


def test_the_scope_comes_before_the_community() -> None:
    world = Limited()
    narrow_agent(agent=world.agent.agent, by=SuperAdminFactory(), scopes=["react"])
    assert world.write(communityId=None).error == "agent_scope_missing:post"


def test_a_revoked_token_or_a_lost_scope_refuses_the_replay_too() -> None:
    world = Limited()
    world.write()
    narrow_agent(agent=world.agent.agent, by=SuperAdminFactory(), scopes=["react"])
    assert world.write().error == "agent_scope_missing:post"
    AgentToken.objects.update(expires_at="2020-01-01T00:00Z")
    assert world.write().error == "token_expired"


def test_a_replay_to_an_agent_of_every_community_asks_nothing_more(django_assert_num_queries: Any) -> None:
    agent, post = agent_with_token(), MessageFactory()
    body = {"messageId": str(post.pk), "emoji": "👍"}
    agent.api.post("/v1/reactions", body, key=KEY)
    with django_assert_num_queries(2):  # the token with the stored answer, and how the limits are spent
        assert said(agent.api.post("/v1/reactions", body, key=KEY))[2] == "true"
