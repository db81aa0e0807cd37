"""A retry needs the right of today: an account that was banned meanwhile gets no stored response."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from messaging.communities.bans import ban_account
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
KEY = "once"


class World:
    """A community, another one, and a post in each by the caller."""

    def __init__(self, caller: str) -> None:
        self.boss = SuperAdminFactory()
        self.community, self.other = CommunityFactory(), CommunityFactory()
        if caller == "agent":
            agent = agent_with_token()
            self.api, self.account, self.banned = agent.api, agent.account, agent.request.requester
        else:
            self.account = self.banned = PersonFactory()
            self.api = Api.as_person(self.account)
        posts = [MessageFactory(author=self.account, community=each) for each in (self.community, self.other)]
        self.own, self.elsewhere = posts

    def write(self) -> Answer:
        body = {"pageId": self.own.page_id, "content": "Hi", "communityId": str(self.community.pk)}
        return self.api.post("/api/messages", body, key=KEY)

    def write_elsewhere(self) -> Answer:
        body = {"pageId": self.own.page_id, "content": "Hi", "communityId": str(self.other.pk)}
        return self.api.post("/api/messages", body, key=f"{KEY} elsewhere")

    def write_without(self) -> Answer:
        return self.api.post("/api/messages", {"pageId": PageFactory().pk, "content": "Hi"}, key=f"{KEY} without")

    def edit(self) -> Answer:
        return self.api.send("PUT", f"/api/messages/{self.own.pk}", {"content": "Better"}, key=KEY)

    def react(self) -> Answer:
        return self.api.post("/v1/reactions", {"messageId": str(self.own.pk), "emoji": "👍", "toggle": False}, key=KEY)

    def delete(self) -> Answer:
        return self.api.send("DELETE", f"/api/messages/{self.elsewhere.pk}", key=KEY)


@pytest.mark.parametrize("caller", ["person", "agent"])
@pytest.mark.parametrize("write", [World.write, World.edit, World.react])
def test_a_banned_account_gets_no_stored_response(caller: str, write: Callable[[World], Answer]) -> None:
    """An agent of a banned operator neither."""
    world = World(caller)
    assert write(world).status in {200, 201}
    assert write(world).headers["Idempotent-Replayed"] == "true"
    ban_account(community_id=world.community.pk, account_id=world.banned.pk, by=world.boss)
    refused = write(world)
    assert (refused.status, refused.error) == (403, "banned_from_community")
    assert "Idempotent-Replayed" not in refused.headers


@pytest.mark.parametrize("caller", ["person", "agent"])
@pytest.mark.parametrize("write", [World.write_elsewhere, World.write_without, World.delete])
def test_what_a_ban_does_not_concern_is_replayed(caller: str, write: Callable[[World], Answer]) -> None:
    """A banned account may delete its posts."""
    world = World(caller)
    first = write(world)
    ban_account(community_id=world.community.pk, account_id=world.banned.pk, by=world.boss)
    if write is World.delete:
        ban_account(community_id=world.other.pk, account_id=world.banned.pk, by=world.boss)
    again = write(world)
    assert (again.status, again.json, again.headers["Idempotent-Replayed"]) == (first.status, first.json, "true")
