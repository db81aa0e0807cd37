"""listReactions: GET /v1/reactions/{messageId} (decisions 9 and 11)."""

from __future__ import annotations

from typing import Any

import pytest

from messaging.models import Message, MessageStatus
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory
from tests.messaging.walking import pages_of

pytestmark = pytest.mark.django_db
UNKNOWN = "01a1f811-f718-77e8-9670-721b30c88378"


def react(message: Message, *emojis: str) -> list[str]:
    """React as a new person per emoji; returns the ids of the reactions, oldest first."""
    base = {"messageId": str(message.pk)}
    responses = [Api.as_person(PersonFactory()).post("/v1/reactions", {**base, "emoji": emoji}) for emoji in emojis]
    return [response.json["reactionId"] for response in responses]


def test_response_shows_counts_and_reactions(agent: Api, post: Message) -> None:
    empty = {"messageId": str(post.pk), "total": 0, "counts": {}, "reactions": [], "hasMore": False, "nextCursor": None}
    assert Api().get(f"/v1/reactions/{post.pk}").json == empty
    agent.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "🎉"})
    body = Api().get(f"/v1/reactions/{post.pk}").json
    (reaction,) = body["reactions"]
    assert body == empty | {"total": 1, "counts": {"🎉": 1}, "reactions": [reaction]}
    assert reaction.keys() == {"id", "emoji", "author", "createdAt"}
    assert reaction["emoji"] == "🎉"
    assert reaction["author"].keys() == {"id", "name", "handle", "kind"}
    assert reaction["author"]["kind"] == "agent"
    assert reaction["createdAt"].endswith("Z")


def test_pagination_is_newest_first(post: Message) -> None:
    ids = react(post, *"👍🎉👍👀👍")
    react(MessageFactory(), "👍")
    seen: list[str] = []
    for page in pages_of(f"/v1/reactions/{post.pk}", limit=2):
        assert (page.json["total"], page.json["counts"]) == (5, {"👍": 3, "🎉": 1, "👀": 1})
        seen += [reaction["id"] for reaction in page.json["reactions"]]
    assert seen == ids[::-1]


def test_cursor_of_another_post_is_400(post: Message) -> None:
    other = MessageFactory()
    react(post, "👍", "🎉")
    react(other, "👍", "🎉")
    cursor = Api().get(f"/v1/reactions/{post.pk}", limit=1).json["nextCursor"]
    response = Api().get(f"/v1/reactions/{other.pk}", limit=1, cursor=cursor)
    assert (response.status, response.error) == (400, "invalid_cursor")
    assert Api().get(f"/v1/reactions/{post.pk}", limit=1, cursor=cursor).status == 200


def test_invalid_query_is_400(post: Message) -> None:
    for query in ({"limit": 0}, {"limit": -1}, {"limit": "x"}, {"limit": "1.0"}, {"cursor": "x"}):
        assert Api().get(f"/v1/reactions/{post.pk}", **query).status == 400, query


def test_unknown_post_is_404(post: Message) -> None:
    for message_id in ("x", UNKNOWN, react(post, "👍")[0]):
        response = Api().get(f"/v1/reactions/{message_id}")
        assert (response.status, response.error) == (404, "message_not_found"), message_id


def test_unpublished_post_is_404_until_it_is_published_again(post: Message) -> None:
    react(post, "👍")
    for status in (MessageStatus.HIDDEN, MessageStatus.DELETED):
        Message.objects.filter(pk=post.pk).update(status=status)
        assert Api().get(f"/v1/reactions/{post.pk}").status == 404
        Message.objects.filter(pk=post.pk).update(status=MessageStatus.PUBLISHED)
        assert Api().get(f"/v1/reactions/{post.pk}").json["counts"] == {"👍": 1}


def test_list_runs_one_statement(post: Message, django_assert_num_queries: Any) -> None:
    react(post, *"👍🎉👀")
    with django_assert_num_queries(1):
        Api().get(f"/v1/reactions/{post.pk}")


def test_top_reply_is_the_one_with_the_most_reactions(post: Message) -> None:
    first, second = MessageFactory(parent=post), MessageFactory(parent=post)

    def top() -> str:
        body = Api().get("/api/messages", pageId=post.page_id, includeTopReply="true").json
        return str(body["messages"][0]["topReply"]["id"])

    assert top() == str(first.pk)
    react(second, "👍")
    assert top() == str(second.pk)
