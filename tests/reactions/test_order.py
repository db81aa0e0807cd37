"""The change log has the reactions of an account to a post in the order of their effects."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kernel.changes.models import Change
from messaging.models import Account, Message
from reactions.models import Reaction
from tests.agents.racing import race
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db(transaction=True)
CLIENTS = 8
CALLS = 10
EMOJI = ["👍", "🎉"]


@pytest.fixture(autouse=True)
def _no_throttle(settings: Any) -> None:
    settings.SOFT_THROTTLES = dict.fromkeys(settings.SOFT_THROTTLES, (10**9, 3600))


def test_the_replayed_log_gives_the_reactions() -> None:
    """Two people with four clients each react to one post, so that all wait for its row."""
    people, post = [PersonFactory() for _ in range(2)], MessageFactory()
    # Generates the OpenAPI document for the threads.
    assert Api().get("/v1/smart-tags").status == 200
    race(CLIENTS, lambda client: react(people[client % 2], post, seed=client))
    stored = dict(Reaction.objects.values_list("account_id", "emoji"))
    assert replayed() == stored


def react(person: Account, post: Message, *, seed: int) -> None:
    api, chance, reaction_id = Api.as_person(person), random.Random(seed), None
    for _ in range(CALLS):
        if reaction_id is not None and chance.random() < 0.3:
            api.delete(f"/v1/reactions/{reaction_id}")
        else:
            body = {"messageId": str(post.pk), "emoji": chance.choice(EMOJI), "toggle": chance.random() < 0.5}
            reaction_id = api.post("/v1/reactions", body).json.get("reactionId", reaction_id)


def replayed() -> dict[Any, str]:
    """The reactions after all changes, in the order of the log; each change is possible after those before it."""
    reactions: dict[Any, str] = {}
    changes = Change.objects.filter(account_id=None, type__startswith="reaction.").order_by("xid", "id")
    for change in changes:
        is_there = change.actor_id in reactions
        assert is_there == (change.type != "reaction.added"), change.type
        if change.type == "reaction.removed":
            assert reactions.pop(change.actor_id) == change.data["emoji"]
        else:
            reactions[change.actor_id] = change.data["emoji"]
    assert changes.count() > CLIENTS
    return reactions
