"""listOwnReactions: GET /v1/me/reactions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from kernel.api.ids import new_id
from messaging.models import Account, Message, MessageStatus, Page
from messaging.pages.moving import move_page
from reactions.models import Reaction
from reactions.queries import OWN, OWN_MAX
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import MessageFactory, PageFactory, PersonFactory
from tests.plans import generic_plan, rows_read

pytestmark = pytest.mark.django_db
PATH = "/v1/me/reactions"
START = datetime(2026, 11, 1, tzinfo=UTC)


def react(account: Account, message: Message, emoji: str = "👍", minute: int = 0) -> Reaction:
    at = START + timedelta(minutes=minute)
    return Reaction.objects.create(account=account, message=message, emoji=emoji, created_at=at)


def own(api: Api, page_id: str) -> list[Any]:
    answer = api.get(PATH, pageId=page_id)
    assert answer.status == 200, answer.json
    found: list[Any] = answer.json["reactions"]
    return found


def record(reaction: Reaction) -> dict[str, str]:
    return {"messageId": str(reaction.message_id), "reactionId": str(reaction.pk), "emoji": reaction.emoji}


def test_ones_own_reactions_on_the_page_are_listed_newest_first(person: Account, api: Api) -> None:
    page = PageFactory()
    post = MessageFactory(page=page)
    first, second = react(person, post), react(person, MessageFactory(parent=post), "🎉", minute=1)
    react(person, MessageFactory())
    react(PersonFactory(), post)
    assert own(api, page.pk) == [record(second), record(first)]


def test_an_agent_lists_its_own_and_can_remove_them() -> None:
    api, post = agent_with_token().api, MessageFactory()
    reaction_id = api.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"}).json["reactionId"]
    (found,) = own(api, post.page_id)
    assert found == {"messageId": str(post.pk), "reactionId": reaction_id, "emoji": "👍"}
    assert api.delete(f"/v1/reactions/{found['reactionId']}").status == 200
    assert own(api, post.page_id) == []


def test_reactions_to_posts_that_are_not_published_are_left_out(person: Account, api: Api) -> None:
    page = PageFactory()
    shown, *_hidden = (
        react(person, MessageFactory(page=page, status=status)) for status in sorted(MessageStatus)[::-1]
    )
    assert shown.message.status == "published"
    assert own(api, page.pk) == [record(shown)]


def test_a_page_without_reactions_or_that_is_unknown_is_an_empty_list(api: Api) -> None:
    assert own(api, PageFactory().pk) == own(api, "p1_" + "a" * 32) == []


def test_the_old_id_of_a_page_that_moved_lists_them(person: Account, api: Api) -> None:
    old = Page.objects.create(id="p1_" + "a" * 32, normalized_url="https://example.com/a?PHPSESSID=1")
    reaction = react(person, MessageFactory(page=old))
    move_page(old)
    assert own(api, old.pk) == [record(reaction)]


def test_a_missing_or_malformed_page_id_is_400(api: Api) -> None:
    for query in ({}, {"pageId": ""}, {"pageId": "x"}, {"pageId": "https://example.com/"}):
        answer = api.get(PATH, **query)
        assert (answer.status, answer.json["field"]) == (400, "pageId"), query


def test_the_response_is_private(api: Api) -> None:
    assert api.get(PATH, pageId=PageFactory().pk).headers["Cache-Control"] == "private, no-store"


def posts(page: Page, author: Account, count: int, **fields: Any) -> list[Message]:
    return Message.objects.bulk_create(
        Message(id=new_id(), page=page, author=author, author_kind="human", content="x", **fields) for _ in range(count)
    )


def react_to_all(account: Account, messages: list[Message]) -> None:
    Reaction.objects.bulk_create(
        Reaction(account=account, message=message, emoji="👍", created_at=START + timedelta(seconds=number))
        for number, message in enumerate(messages)
    )


@pytest.mark.parametrize("elsewhere", [0, OWN_MAX + 1])
def test_the_newest_thousand_are_listed_however_many_there_are_elsewhere(
    person: Account, api: Api, elsewhere: int, django_assert_num_queries: Any
) -> None:
    """An account with many reactions is read from the posts of the page."""
    page = PageFactory()
    top = MessageFactory(page=page)
    react_to_all(person, posts(PageFactory(), person, elsewhere))
    react_to_all(person, [*posts(page, person, 600), *posts(page, person, OWN_MAX - 590, parent=top)])
    newest = Reaction.objects.filter(account=person, message__page=page).order_by("-created_at", "-id")[:OWN_MAX]
    with django_assert_num_queries(2):
        found = own(api, page.pk)
    assert found == [record(reaction) for reaction in newest]


def test_neither_a_busy_account_nor_a_long_page_is_read_as_a_whole(person: Account) -> None:
    """With the statistics of production tables: most accounts have few reactions, and most pages few posts."""
    page, other = PageFactory(), PageFactory()
    busy = PersonFactory()
    react_to_all(busy, posts(other, busy, 1_500))
    few = posts(page, busy, 20)
    react_to_all(person, posts(other, person, 1_500)[:10])
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE reactions_reaction ALTER account_id SET (n_distinct = -1)")
        cursor.execute("ALTER TABLE messaging_message ALTER page_id SET (n_distinct = -0.1)")
        cursor.execute("ANALYZE messaging_message, reactions_reaction")
    # The page of the busy account is short, that of the other account is long.
    for account, asked, rows_max in ((busy, page, OWN_MAX + 1 + 2 * len(few)), (person, other, 2 * 10)):
        plan = generic_plan(OWN, {"account": account.pk, "page": asked.pk})
        assert rows_read(plan, "messaging_message", "reactions_reaction") <= rows_max
