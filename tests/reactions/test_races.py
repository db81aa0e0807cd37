"""One post, 40 callers at once: nothing fails, nothing deadlocks, and the counts are those of the rows."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from messaging.models import Account, Message
from reactions.models import Reaction
from tests.agents.racing import race
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory
from tests.reactions.counts import counted

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 40
SECONDS = 3.0
EMOJI = ["👍", "❤️", "🎉"]


@pytest.fixture(autouse=True)
def _no_throttle(settings: Any) -> None:
    settings.SOFT_THROTTLES = dict.fromkeys(settings.SOFT_THROTTLES, (10**9, 3600))


def test_toggling_replacing_and_deleting_for_seconds() -> None:
    """Ten people with four devices each, so that the same caller meets itself as well as others."""
    people = [PersonFactory() for _ in range(THREADS // 4)]
    post: Message = MessageFactory()
    deadline = time.monotonic() + SECONDS
    statuses = race(THREADS, lambda index: _reacting(people[index % len(people)], post, deadline, index))
    seen = {status for found in statuses for status in found}
    assert seen == {200, 404}
    counted(post)


def _reacting(person: Account, post: Message, deadline: float, seed: int) -> list[int]:
    api, chance, statuses = Api.as_person(person), random.Random(seed), []
    reaction_id = None
    while time.monotonic() < deadline:
        if reaction_id is not None and chance.random() < 0.4:
            answer = api.delete(f"/v1/reactions/{reaction_id}")
            assert answer.status == 200 or answer.error == "reaction_not_found"
        else:
            body = {"messageId": str(post.pk), "emoji": chance.choice(EMOJI), "toggle": chance.random() < 0.6}
            answer = api.post("/v1/reactions", body)
            assert answer.status == 200
            reaction_id = answer.json["reactionId"] or reaction_id
        statuses.append(answer.status)
    return statuses


def test_a_double_click_of_one_person_ends_where_it_began(post: Message, api: Api) -> None:
    """An even number of toggles at once: as many added as removed, whatever their order."""
    body = {"messageId": str(post.pk), "emoji": "👍"}
    actions = race(8, lambda _index: api.post("/v1/reactions", body).json["action"])
    assert sorted(actions) == ["added"] * 4 + ["removed"] * 4
    assert counted(post) == {}


def test_deleting_at_once_lowers_the_count_once(post: Message, api: Api) -> None:
    Api.as_person(PersonFactory()).post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"})
    answer = api.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"})
    path = f"/v1/reactions/{answer.json['reactionId']}"
    assert sorted(race(8, lambda _index: api.delete(path).status)) == [200] + [404] * 7
    assert counted(post) == {"👍": 1}


def test_setting_at_once_adds_once(post: Message, api: Api) -> None:
    body = {"messageId": str(post.pk), "emoji": "👍", "toggle": False}
    actions = race(8, lambda _index: api.post("/v1/reactions", body).json["action"])
    assert sorted(actions) == ["added"] + ["unchanged"] * 7
    assert Reaction.objects.count() == 1
    counted(post)


def test_many_people_at_once_are_all_counted(post: Message) -> None:
    callers = [Api.as_person(PersonFactory()) for _ in range(THREADS)]
    body = {"messageId": str(post.pk), "emoji": "👍"}
    counts = race(THREADS, lambda index: callers[index].post("/v1/reactions", body).json["count"])
    assert sorted(counts) == list(range(1, THREADS + 1)), "each answer tells another moment of the count"
    assert counted(post) == {"👍": THREADS}
