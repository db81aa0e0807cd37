"""20 concurrent callers on one post: no error, no deadlock, and the counts equal the rows."""

from __future__ import annotations

import random
from collections import Counter
from importlib import import_module
from typing import Any

import pytest
from django.db import connection

from messaging.models import Account, Message
from reactions.models import Reaction
from tests.agents.racing import race
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory
from tests.reactions.counts import counted

pytestmark = pytest.mark.django_db(transaction=True)
JOIN = import_module("reactions.migrations.0003_one_name_of_each_emoji")
THREADS = 20
# Of each thread.
CALLS = 8
EMOJI = ["👍", "❤️", "🎉"]


@pytest.fixture(autouse=True)
def _no_throttle(settings: Any) -> None:
    settings.SOFT_THROTTLES = dict.fromkeys(settings.SOFT_THROTTLES, (10**9, 3600))


@pytest.mark.slow
def test_concurrent_toggles_replacements_and_removals() -> None:
    """Five people with four clients each, so that calls of the same account are concurrent too."""
    people = [PersonFactory() for _ in range(THREADS // 4)]
    post: Message = MessageFactory()
    statuses = race(THREADS, lambda index: _react(people[index % len(people)], post, index))
    seen = {status for of_caller in statuses for status in of_caller}
    assert seen == {200, 404}
    counted(post)


def _react(person: Account, post: Message, seed: int) -> list[int]:
    api, chance, statuses = Api.as_person(person), random.Random(seed), []
    reaction_id = None
    for _ in range(CALLS):
        if reaction_id is not None and chance.random() < 0.4:
            response = api.delete(f"/v1/reactions/{reaction_id}")
            assert response.status == 200 or response.error == "reaction_not_found"
        else:
            body = {"messageId": str(post.pk), "emoji": chance.choice(EMOJI), "toggle": chance.random() < 0.6}
            response = api.post("/v1/reactions", body)
            assert response.status == 200
            reaction_id = response.json["reactionId"] or reaction_id
        statuses.append(response.status)
    return statuses


def test_the_migration_joins_earlier_reactions_to_an_emoji_while_people_react(person: Account) -> None:
    posts, bystander = [MessageFactory() for _ in range(3)], MessageFactory()
    stored = [":+1:", ":thumbsup:", "👍", ":thumbs_up:", ":heart:", ":party_parrot:", ":+1:"]
    for post in [*posts, bystander]:
        mine = stored if post != bystander else [":party_parrot:", "🎉"]
        for emoji in mine:
            Reaction.objects.create(message=post, account=PersonFactory(), emoji=emoji)
        Message.objects.filter(pk=post.pk).update(reaction_counts=Counter(mine), reaction_total=len(mine))
    Reaction.objects.create(message=posts[0], account=person, emoji=":+1:")
    Message.objects.filter(pk=posts[0].pk).update(reaction_counts=Counter([*stored, ":+1:"]), reaction_total=8)

    def write(number: int) -> None:
        if number < 2:
            with connection.schema_editor(atomic=False) as editor:
                JOIN.join(None, editor)
        elif number == 2:
            _react(person, posts[0], 1)
        else:
            _react(PersonFactory(), posts[number % 3], number)

    race(8, write)
    assert all(not set(counted(post)) & {":+1:", ":thumbsup:", ":thumbs_up:", ":heart:"} for post in posts)
    assert counted(bystander) == {":party_parrot:": 1, "🎉": 1}
    alone = MessageFactory(reaction_counts={":+1:": 1, "👍": 1}, reaction_total=2)
    for emoji, account in ((":+1:", person), ("👍", PersonFactory())):
        Reaction.objects.create(message=alone, account=account, emoji=emoji)
    for _ in range(2):
        write(0)
        assert counted(alone) == {"👍": 2}
    body = {"messageId": str(alone.pk), "emoji": ":thumbs-up:"}
    assert Api.as_person(person).post("/v1/reactions", body).json["action"] == "removed"


def test_even_number_of_concurrent_toggles_leaves_no_reaction(post: Message, api: Api) -> None:
    """Half of the toggles add and half remove, in any order."""
    body = {"messageId": str(post.pk), "emoji": "👍"}
    actions = race(8, lambda _index: api.post("/v1/reactions", body).json["action"])
    assert sorted(actions) == ["added"] * 4 + ["removed"] * 4
    assert counted(post) == {}


def test_concurrent_removals_lower_the_count_once(post: Message, api: Api) -> None:
    Api.as_person(PersonFactory()).post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"})
    response = api.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"})
    path = f"/v1/reactions/{response.json['reactionId']}"
    assert sorted(race(8, lambda _index: api.delete(path).status)) == [200] + [404] * 7
    assert counted(post) == {"👍": 1}


def test_concurrent_sets_add_one_reaction(post: Message, api: Api) -> None:
    body = {"messageId": str(post.pk), "emoji": "👍", "toggle": False}
    actions = race(8, lambda _index: api.post("/v1/reactions", body).json["action"])
    assert sorted(actions) == ["added"] + ["unchanged"] * 7
    assert Reaction.objects.count() == 1
    counted(post)


def test_concurrent_reactions_of_many_people_are_all_counted(post: Message) -> None:
    callers = [Api.as_person(PersonFactory()) for _ in range(THREADS)]
    body = {"messageId": str(post.pk), "emoji": "👍"}
    counts = race(THREADS, lambda index: callers[index].post("/v1/reactions", body).json["count"])
    assert sorted(counts) == list(range(1, THREADS + 1)), "each response has a different count"
    assert counted(post) == {"👍": THREADS}
