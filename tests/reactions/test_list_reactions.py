"""listReactions: GET /v1/reactions/{messageId} (decisions 9 and 11)."""

from __future__ import annotations

from typing import Any

import pytest

from messaging.models import Message, MessageStatus
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db
UNKNOWN = "01a1f811-f718-77e8-9670-721b30c88378"


def react(message: Message, *emojis: str) -> list[str]:
    """One new person each; the ids of the reactions, oldest first."""
    body = {"messageId": str(message.pk)}
    answers = [Api.as_person(PersonFactory()).post("/v1/reactions", {**body, "emoji": emoji}) for emoji in emojis]
    return [answer.json["reactionId"] for answer in answers]


def test_what_a_reaction_shows(agent: Api, post: Message) -> None:
    agent.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "🎉"})
    found = Api().get(f"/v1/reactions/{post.pk}").json
    (reaction,) = found.pop("reactions")
    assert found == {
        "messageId": str(post.pk), "total": 1, "counts": {"🎉": 1}, "hasMore": False, "nextCursor": None,
    }  # fmt: skip
    assert reaction.keys() == {"id", "emoji", "author", "createdAt"}
    assert reaction["emoji"] == "🎉"
    assert reaction["author"].keys() == {"id", "name", "handle", "kind"}
    assert reaction["author"]["kind"] == "agent"
    assert reaction["createdAt"].endswith("Z")


def test_a_post_without_any(post: Message) -> None:
    assert Api().get(f"/v1/reactions/{post.pk}").json == {
        "messageId": str(post.pk), "total": 0, "counts": {}, "reactions": [], "hasMore": False, "nextCursor": None,
    }  # fmt: skip


def test_pages_newest_first(post: Message) -> None:
    ids = react(post, *"👍🎉👍👀👍")
    react(MessageFactory(), "👍")
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        found = Api().get(f"/v1/reactions/{post.pk}", **query).json
        assert (found["total"], found["counts"]) == (5, {"👍": 3, "🎉": 1, "👀": 1})
        seen += [reaction["id"] for reaction in found["reactions"]]
        assert found["hasMore"] == (found["nextCursor"] is not None)
        if not found["hasMore"]:
            break
        query["cursor"] = found["nextCursor"]
    assert seen == ids[::-1]


def test_a_cursor_counts_for_its_own_post_only(post: Message) -> None:
    other = MessageFactory()
    react(post, "👍", "🎉")
    react(other, "👍", "🎉")
    cursor = Api().get(f"/v1/reactions/{post.pk}", limit=1).json["nextCursor"]
    answer = Api().get(f"/v1/reactions/{other.pk}", limit=1, cursor=cursor)
    assert (answer.status, answer.error) == (400, "invalid_cursor")
    assert Api().get(f"/v1/reactions/{post.pk}", limit=1, cursor=cursor).status == 200


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": -1}, {"limit": "x"}, {"limit": "1.0"}, {"cursor": "x"}])
def test_bad_queries(post: Message, query: dict[str, Any]) -> None:
    assert Api().get(f"/v1/reactions/{post.pk}", **query).status == 400


@pytest.mark.parametrize("message_id", ["x", UNKNOWN])
def test_unknown(message_id: str) -> None:
    answer = Api().get(f"/v1/reactions/{message_id}")
    assert (answer.status, answer.error) == (404, "message_not_found")


def test_the_id_of_a_reaction_is_not_that_of_a_post(post: Message) -> None:
    assert Api().get(f"/v1/reactions/{react(post, '👍')[0]}").status == 404


@pytest.mark.parametrize("status", [MessageStatus.HIDDEN, MessageStatus.DELETED])
def test_a_post_taken_out_and_brought_back(post: Message, status: str) -> None:
    react(post, "👍")
    Message.objects.filter(pk=post.pk).update(status=status)
    assert Api().get(f"/v1/reactions/{post.pk}").status == 404
    Message.objects.filter(pk=post.pk).update(status=MessageStatus.PUBLISHED)
    assert Api().get(f"/v1/reactions/{post.pk}").json["counts"] == {"👍": 1}


def test_one_statement(post: Message, django_assert_num_queries: Any) -> None:
    react(post, *"👍🎉👀")
    with django_assert_num_queries(1):
        Api().get(f"/v1/reactions/{post.pk}")


def test_the_top_reply_follows_the_reactions(post: Message) -> None:
    first, second = MessageFactory(parent=post), MessageFactory(parent=post)

    def top() -> str:
        found = Api().get("/api/messages", pageId=post.page_id, includeTopReply="true").json
        return str(found["messages"][0]["topReply"]["id"])

    assert top() == str(first.pk)
    react(second, "👍")
    assert top() == str(second.pk)
