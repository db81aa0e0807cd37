"""addReaction: POST /v1/reactions (contract: reaction states, ReactionResult, limits; decisions 9)."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.writes.models import RateLimitEvent
from messaging.models import Community, Message, MessageStatus
from reactions.models import Reaction
from reactions.services import EMOJI_KINDS_MAX
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory
from tests.reactions.counts import counted

pytestmark = pytest.mark.django_db
UNKNOWN = "01a1f811-f718-77e8-9670-721b30c88378"
DEFAULT: dict[str, bool] = {}
SET = {"toggle": False}


def react(api: Api, message: Message, emoji: object, **fields: object) -> Answer:
    return api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": emoji, **fields})


ADDED, UNCHANGED, REPLACED, REMOVED = ("added", 1, 1), ("unchanged", 1, 1), ("replaced", 1, 1), ("removed", 0, 0)
# (kind of caller, fields beside the post and the emoji, emoji one after the other, actions)
ACTIONS = [
    ("agent", DEFAULT, "👍👍", [ADDED, UNCHANGED]),
    ("agent", DEFAULT, "👍🎉", [ADDED, REPLACED]),
    ("agent", {"toggle": True}, "👍👍", [ADDED, UNCHANGED]),
    ("agent", SET, "👍🎉👍", [ADDED, REPLACED, REPLACED]),
    ("person", SET, "👍👍", [ADDED, UNCHANGED]),
    ("person", SET, "👍🎉", [ADDED, REPLACED]),
    ("person", DEFAULT, "👍👍👍", [ADDED, REMOVED, ADDED]),
    ("person", {"toggle": True}, "👍👍", [ADDED, REMOVED]),
    ("person", DEFAULT, "👍🎉🎉", [ADDED, REPLACED, REMOVED]),
]


def test_actions_of_agents_and_persons_with_and_without_toggle(api: Api, agent: Api) -> None:
    for caller, fields, emojis, expected in ACTIONS:
        post = MessageFactory()
        responses = [react(agent if caller == "agent" else api, post, emoji, **fields) for emoji in emojis]
        assert [response.status for response in responses] == [200] * len(emojis)
        results = [response.json for response in responses]
        assert [(result["action"], result["count"], result["total"]) for result in results] == expected
        for result in results:
            assert result["success"] is True
            assert (result["reactionId"] is None) == (result["action"] == "removed")
        counted(post)


def test_count_is_per_emoji_and_total_per_post(post: Message) -> None:
    callers = [Api.as_person(PersonFactory()) for _ in range(3)]
    react(callers[0], post, "👍")
    react(callers[1], post, "👍")
    result = react(callers[2], post, "🎉").json
    assert (result["count"], result["total"]) == (1, 3)
    assert counted(post) == {"👍": 2, "🎉": 1}
    shown = Api().get(f"/api/messages/{post.pk}").json
    assert (shown["reactionCounts"], shown["reactionTotal"]) == ({"👍": 2, "🎉": 1}, 3)


def test_replacing_keeps_the_reaction_id_and_lowers_the_old_count(api: Api, post: Message) -> None:
    first = react(api, post, "👍").json["reactionId"]
    assert react(api, post, "🎉").json["reactionId"] == first
    assert counted(post) == {"🎉": 1}


def test_variation_selectors_do_not_distinguish_emoji(api: Api, post: Message) -> None:
    react(api, post, "❤")
    assert react(Api.as_person(PersonFactory()), post, "❤️").json["count"] == 2
    assert react(api, post, "❤️", toggle=False).json["action"] == "unchanged"
    assert counted(post) == {"❤️": 2}


def test_text_other_than_one_emoji_is_refused(api: Api, post: Message) -> None:
    for emoji in ("", " ", "word", "👍🎉", "👍 ", ":Caps:", "x" * 32, ":no space:"):
        response = react(api, post, emoji)
        assert (response.status, response.error, response.json["field"]) == (400, "invalid_emoji", "emoji"), emoji
    for emoji in ("x" * 33, "👍" * 33, ":" + "x" * 31 + ":"):
        response = react(api, post, emoji)
        refusal = {"error": "content_too_long", "field": "emoji", "max": 32}
        assert (response.status, response.refusal) == (413, refusal), emoji
    assert not Reaction.objects.exists()
    assert react(api, post, ":" + "x" * 30 + ":").status == 200


def test_invalid_body_is_400(api: Api) -> None:
    whole = {"messageId": UNKNOWN, "emoji": "👍"}
    bodies: list[Any] = [{}, {"emoji": "👍"}, {"messageId": UNKNOWN}, []]
    bodies += [whole | {"messageId": message_id} for message_id in ("x", None)]
    bodies += [whole | {"emoji": emoji} for emoji in (None, 5, ["👍"])]
    for body in [*bodies, *(whole | {"toggle": toggle} for toggle in ("false", 0))]:
        response = api.post("/v1/reactions", body)
        assert (response.status, response.error) == (400, "invalid_input"), body


def test_unknown_post_is_404_and_charges_no_limit(api: Api, agent: Api) -> None:
    for caller in (api, agent):
        response = caller.post("/v1/reactions", {"messageId": UNKNOWN, "emoji": "👍"})
        assert (response.status, response.error) == (404, "message_not_found")
    assert not RateLimitEvent.objects.exists()


def test_unpublished_post_is_404(api: Api) -> None:
    for status in set(MessageStatus) - {MessageStatus.PUBLISHED}:
        response = react(api, MessageFactory(status=status), "👍")
        assert (response.status, response.error) == (404, "message_not_found"), status


def test_missing_credential_or_scope_is_refused(post: Message) -> None:
    assert (react(Api(), post, "👍").status, react(Api(), post, "👍").error) == (401, "not_authenticated")
    response = react(agent_with_token(scopes=["post", "reply", "quote"]).api, post, "👍")
    assert (response.status, response.error) == (403, "agent_scope_missing:react")
    assert counted(post) == {}


def test_restricted_agent_reacts_in_its_communities_only() -> None:
    own: Community = CommunityFactory()
    agent = agent_with_token(community_ids=[own.pk]).api
    assert react(agent, MessageFactory(community=own), "👍").json["action"] == "added"
    for other in (MessageFactory(community=CommunityFactory()), MessageFactory(community=None)):
        response = react(agent, other, "👍")
        assert (response.status, response.error) == (403, "agent_community_not_allowed")
    assert RateLimitEvent.objects.count() == 1


def test_read_only_community_is_403(api: Api) -> None:
    post = MessageFactory(community=CommunityFactory(read_only=True))
    response = react(api, post, "👍")
    assert (response.status, response.error) == (403, "community_forbids")
    assert counted(post) == {}


def test_hourly_limit_of_an_agent(post: Message) -> None:
    """120 reactions with any outcome are accepted; the next is refused, which changes and charges nothing."""
    holder = agent_with_token()
    react(holder.api, post, "👍")
    event = RateLimitEvent.objects.get()
    more = [RateLimitEvent(account_id=event.account_id, counter="react", at=event.at) for _ in range(118)]
    RateLimitEvent.objects.bulk_create(more)
    last = react(holder.api, post, "👍")
    assert last.json["action"] == "unchanged"
    assert '"react";r=0;' in last.headers["RateLimit"]
    assert last.headers["RateLimit-Policy"] == '"react";q=120;w=3600'
    refused = react(holder.api, post, "🎉")
    assert (refused.status, refused.error) == (429, "agent_rate_limited")
    assert 3590 <= int(refused.headers["Retry-After"]) <= 3600
    assert counted(post) == {"👍": 1}
    unknown = holder.api.post("/v1/reactions", {"messageId": UNKNOWN, "emoji": "👍"})
    assert unknown.status == 404, "the post is checked before the limit"
    assert RateLimitEvent.objects.count() == 120


def test_persons_have_no_hourly_limit(api: Api, post: Message) -> None:
    assert "RateLimit" not in react(api, post, "👍").headers
    assert not RateLimitEvent.objects.exists()


def test_retry_with_the_same_key_toggles_once(api: Api, post: Message) -> None:
    body = {"messageId": str(post.pk), "emoji": "👍"}
    first, second = (api.post("/v1/reactions", body, key="one click") for _ in range(2))
    assert first.body == second.body
    assert second.headers["Idempotent-Replayed"] == "true"
    assert counted(post) == {"👍": 1}


def test_replay_does_not_depend_on_the_status_of_the_post(agent: Api, post: Message) -> None:
    body = {"messageId": str(post.pk), "emoji": "👍"}
    first = agent.post("/v1/reactions", body, key="k")
    Message.objects.filter(pk=post.pk).update(status=MessageStatus.HIDDEN)
    second = agent.post("/v1/reactions", body, key="k")
    assert (second.status, second.body) == (200, first.body)
    assert RateLimitEvent.objects.count() == 1


def test_reaction_of_a_person_runs_seven_statements(api: Api, post: Message, django_assert_num_queries: object) -> None:
    """The credential, BEGIN, the lock, the state, the reaction, its record in the change log, and COMMIT."""
    with django_assert_num_queries(7):  # type: ignore[operator]
        assert react(api, post, "👍").status == 200


def test_post_has_at_most_100_different_emoji(api: Api, post: Message) -> None:
    Message.objects.filter(pk=post.pk).update(
        reaction_counts={f":kind_{n}:": 1 for n in range(EMOJI_KINDS_MAX)}, reaction_total=EMOJI_KINDS_MAX
    )
    refused = react(api, post, ":one_more:")
    assert (refused.status, refused.refusal) == (409, {"error": "too_many_emoji", "max": EMOJI_KINDS_MAX})
    assert not Reaction.objects.exists()
    assert react(api, post, ":kind_7:").json["count"] == 2


def test_one_emoji_under_all_its_names_is_one_reaction(post: Message) -> None:
    spellings = ("👍", ":+1:", ":thumbsup:", "👍\ufe0f", ":thumbs_up:")
    for number, emoji in enumerate(spellings, start=1):
        answer = Api.as_person(PersonFactory()).post("/v1/reactions", {"messageId": str(post.pk), "emoji": emoji})
        assert (answer.json["action"], answer.json["count"]) == ("added", number)
    assert Api().get(f"/v1/reactions/{post.pk}").json["counts"] == {"👍": len(spellings)}


def test_another_name_of_the_same_emoji_removes_it(post: Message) -> None:
    person = Api.as_person(PersonFactory())
    for emoji, action in (("👍", "added"), (":+1:", "removed")):
        assert person.post("/v1/reactions", {"messageId": str(post.pk), "emoji": emoji}).json["action"] == action
