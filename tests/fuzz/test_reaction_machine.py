"""Reactions of people and agents in any order: each response and the counts are those of a simple model."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory
from tests.fuzz.machines import ServiceMachine, run

pytestmark = pytest.mark.slow

EMOJI = ("👍", "🎉", ":ship-it:")
# The first two are people.
PEOPLE, CALLERS, POSTS = 2, 4, 2
CALLER, POST = st.integers(0, CALLERS - 1), st.integers(0, POSTS - 1)


class Reactions(ServiceMachine):
    def __init__(self) -> None:
        super().__init__()
        people = [Api.as_person(PersonFactory()) for _ in range(PEOPLE)]
        self.callers = people + [agent_with_token().api for _ in range(CALLERS - PEOPLE)]
        posts: list[Any] = [MessageFactory() for _ in range(POSTS)]
        self.posts = [str(post.pk) for post in posts]
        # (caller, post): (emoji, id of the reaction)
        self.current: dict[tuple[int, int], tuple[str, str]] = {}

    @rule(caller=CALLER, post=POST, emoji=st.sampled_from(EMOJI), toggle=st.sampled_from([None, True, False]))
    def react(self, caller: int, post: int, emoji: str, toggle: bool | None) -> None:
        body = {"messageId": self.posts[post], "emoji": emoji} | ({} if toggle is None else {"toggle": toggle})
        output = self.callers[caller].post("/v1/reactions", body).json
        before, _id = self.current.get((caller, post), (None, None))
        toggles = caller < PEOPLE and toggle is not False
        same = "removed" if toggles else "unchanged"
        assert output["action"] == ("added" if before is None else same if before == emoji else "replaced")
        self._set(caller, post, None if output["action"] == "removed" else (emoji, output["reactionId"]))
        assert (output["count"], output["total"]) == (self._counts(post)[emoji], self._counts(post).total())

    @rule(caller=CALLER, owner=CALLER, post=POST)
    def remove(self, caller: int, owner: int, post: int) -> None:
        current = self.current.get((owner, post))
        if current is None:
            return
        emoji, reaction = current
        answer = self.callers[caller].delete(f"/v1/reactions/{reaction}")
        if caller != owner:
            assert (answer.status, answer.error) == (403, "not_owner")
            return
        self._set(owner, post, None)
        assert answer.json["action"] == "removed"
        assert answer.json["count"] == self._counts(post)[emoji]
        again = self.callers[owner].delete(f"/v1/reactions/{reaction}")
        assert (again.status, again.error) == (404, "reaction_not_found")

    @invariant()
    def reads_agree_with_the_model(self) -> None:
        for post, message_id in enumerate(self.posts):
            listed, message = (
                Api().get(f"/v1/reactions/{message_id}").json,
                Api().get(f"/api/messages/{message_id}").json,
            )
            counts = dict(self._counts(post))
            assert listed["counts"] == message["reactionCounts"] == counts
            assert listed["total"] == message["reactionTotal"] == sum(counts.values()) == len(listed["reactions"])

    def _set(self, caller: int, post: int, current: tuple[str, str] | None) -> None:
        self.current.pop((caller, post), None)
        if current is not None:
            self.current[caller, post] = current

    def _counts(self, post: int) -> Counter[str]:
        return Counter(emoji for (_caller, on), (emoji, _id) in self.current.items() if on == post)


@pytest.mark.django_db
def test_reactions_agree_with_the_model() -> None:
    run(Reactions, runs=8, steps=20)
