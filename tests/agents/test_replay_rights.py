"""A replay requires the current permissions: a retry is refused after a permission is removed."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models import AgentToken
from agents.services import narrow_agent
from kernel.writes.models import RateLimitEvent
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


def summary(response: Answer) -> tuple[int, str | None, str | None]:
    return response.status, response.json.get("error"), response.headers.get("Idempotent-Replayed")


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_decision_is_not_replayed_to_a_demoted_super_admin(boss: Account, decision: str) -> None:
    path, admin = f"/v1/agent-tokens/requests/{RequestFactory().pk}/{decision}", Api.as_person(boss)
    assert summary(admin.post(path, {}, key=KEY)) == (200, None, None)
    assert summary(admin.post(path, {}, key=KEY)) == (200, None, "true")
    demote(boss)
    for key in (KEY, "another", None):
        assert summary(admin.post(path, {}, key=key)) == (403, "super_admin_required", None)


def test_demoted_super_admin_is_refused_before_validation(boss: Account) -> None:
    demote(boss)
    admin = Api.as_person(boss)
    for path in ("/v1/agent-tokens/requests/x/approve", f"/v1/agent-tokens/requests/{RequestFactory().pk}/reject"):
        assert admin.post(path, {"reason": 5}, key="é").error == "super_admin_required"
        assert admin.post(path, raw=b"{").error == "super_admin_required"


def test_revocation_is_not_replayed_to_a_demoted_super_admin(boss: Account) -> None:
    holder, admin = agent_with_token(), Api.as_person(boss)
    path = f"/v1/agent-tokens/{holder.token.pk}/revoke"
    assert summary(admin.post(path, {}, key=KEY)) == (200, None, None)
    assert summary(admin.post(path, {}, key=KEY)) == (200, None, "true")
    demote(boss)
    assert summary(admin.post(path, {}, key=KEY)) == (404, "token_not_found", None)
    assert summary(holder.operator.post(path, {}, key=KEY)) == (200, None, None), "the operator has the permission"


class Scenario:
    """An agent of two communities; `narrow` removes the one that its writes are in."""

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


def test_post_is_not_replayed_after_its_community_is_removed() -> None:
    scenario = Scenario()
    assert [summary(scenario.write())[::2] for _ in range(2)] == [(201, None), (201, "true")]
    scenario.narrow()
    assert summary(scenario.write()) == summary(scenario.write(key=None)) == REFUSED
    assert Message.objects.filter(page=scenario.page).count() == 1
    assert RateLimitEvent.objects.count() == 1


def test_reaction_is_not_replayed_after_its_community_is_removed() -> None:
    scenario = Scenario()
    assert [summary(scenario.react())[::2] for _ in range(2)] == [(200, None), (200, "true")]
    scenario.narrow()
    assert summary(scenario.react()) == summary(scenario.react(key=None)) == REFUSED


def test_body_with_an_allowed_community_gets_no_replay_of_a_removed_one() -> None:
    """The community of the stored response is checked, not only that of the retry."""
    scenario = Scenario()
    scenario.write()
    scenario.react(key="react")
    scenario.narrow()
    allowed = MessageFactory(community=scenario.other)
    assert summary(scenario.write(communityId=str(scenario.other.pk))) == REFUSED
    for message_id in (str(allowed.pk), "x", None):
        body = {"messageId": message_id, "emoji": "👍"}
        assert summary(scenario.agent.api.post("/v1/reactions", body, key="react")) == REFUSED


def test_body_with_an_allowed_scope_gets_no_replay_of_a_removed_one() -> None:
    """The scopes of the stored post are checked, not only those of the retry."""
    scenario = Scenario()
    assert (
        scenario.write(parentId=str(MessageFactory(page=scenario.page, community=scenario.community).pk)).status == 201
    )
    narrow_agent(agent=scenario.agent.agent, by=SuperAdminFactory(), scopes=["post"])
    assert summary(scenario.write()) == (403, "agent_scope_missing:reply", None)


def test_replay_found_after_the_lock_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call committed after the token query of the retry."""
    scenario = Scenario()
    scenario.react()
    scenario.narrow()
    monkeypatch.setattr("kernel.writes.middleware.Write.find_replay", lambda _write: None)
    assert summary(scenario.react()) == REFUSED


def test_community_is_checked_before_the_fields() -> None:
    for body in [
        {"communityId": None},
        {"communityId": "0199f000-0000-7000-8000-000000000000"},
        {"communityId": "0199f000-0000-7000-8000-000000000000", "pageId": "x", "content": 5},
        {"communityId": None, "content": "x" * 20_001},
    ]:
        scenario = Scenario()
        for key in (None, KEY, "é"):
            assert summary(scenario.write(key=key, **body)) == REFUSED, body


def test_malformed_community_id_is_400() -> None:
    for value in [5, "x", [], {}, True, "", "\x00"]:
        assert summary(Scenario().write(communityId=value))[:2] == (400, "invalid_input"), value


def test_scope_is_checked_before_the_community() -> None:
    scenario = Scenario()
    narrow_agent(agent=scenario.agent.agent, by=SuperAdminFactory(), scopes=["react"])
    assert scenario.write(communityId=None).error == "agent_scope_missing:post"


def test_replay_is_refused_without_scope_or_valid_token() -> None:
    scenario = Scenario()
    scenario.write()
    narrow_agent(agent=scenario.agent.agent, by=SuperAdminFactory(), scopes=["react"])
    assert scenario.write().error == "agent_scope_missing:post"
    AgentToken.objects.update(expires_at="2020-01-01T00:00Z")
    assert scenario.write().error == "token_expired"


def test_replay_to_an_agent_of_every_community_costs_three_queries(django_assert_num_queries: Any) -> None:
    agent, post = agent_with_token(), MessageFactory()
    body = {"messageId": str(post.pk), "emoji": "👍"}
    agent.api.post("/v1/reactions", body, key=KEY)
    with django_assert_num_queries(3):  # the token with the stored response, a ban, and the hourly limits
        assert summary(agent.api.post("/v1/reactions", body, key=KEY))[2] == "true"
