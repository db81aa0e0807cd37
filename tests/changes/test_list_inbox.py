"""GET /v1/inbox: what concerns the account that calls."""

from __future__ import annotations

from typing import Any

import pytest

from agents.services import revoke_token
from kernel.api.pagination import LIMIT_MAX
from kernel.changes import pruning
from kernel.changes.log import NewChange, append
from kernel.changes.models import Change
from kernel.changes.unread import UNREAD_MAX
from kernel.database.sql import database_now
from messaging.changes.types import InboxType
from messaging.models import Account
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api
from tests.changes.inbox import events, inbox
from tests.factories import MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Account:
    return PersonFactory(handle="ada")


@pytest.fixture
def agent() -> TokenHolder:
    """An agent with an empty inbox."""
    holder = agent_with_token()
    Change.objects.all().delete()
    return holder


def tell(account: Account, *types: str) -> None:
    append([NewChange(type=event, account_id=account.pk, data={"emoji": "👍"}) for event in types])


def test_an_empty_inbox_has_a_cursor_to_go_on_from(ada: Account, agent: TokenHolder) -> None:
    empty = inbox(Api.as_person(ada))
    assert empty | {"nextCursor": ""} == {"events": [], "hasMore": False, "nextCursor": "", "unread": 0}
    assert inbox(agent.api).keys() == empty.keys()
    tell(ada, "reaction")
    assert len(events(Api.as_person(ada), cursor=empty["nextCursor"])) == 1


def test_each_event_is_listed_once_with_any_limit(agent: TokenHolder) -> None:
    tell(agent.account, *(["reply", "mention", "reaction"] * 3))
    whole = events(agent.api)
    for limit in (1, 2, 4, 9, 10):
        seen, cursor = [], None
        while True:
            query = {"limit": limit} | ({} if cursor is None else {"cursor": cursor})
            page = inbox(agent.api, **query)
            seen += page["events"]
            cursor = page["nextCursor"]
            if not page["hasMore"]:
                break
        assert seen == whole
    assert [events(agent.api, cursor=event["id"]) for event in whole] == [whole[n + 1 :] for n in range(len(whole))]


def test_a_list_has_at_most_100_events(ada: Account) -> None:
    tell(ada, *["reply"] * (LIMIT_MAX + 1))
    page = inbox(Api.as_person(ada), limit=1_000)
    assert (len(page["events"]), page["hasMore"]) == (LIMIT_MAX, True)


def test_types_select_events(ada: Account) -> None:
    tell(ada, *InboxType)
    person = Api.as_person(ada)
    assert [event["type"] for event in events(person, types="mention,reply")] == ["reply", "mention"]
    assert [event["type"] for event in events(person, types="token_expiring")] == ["token_expiring"]
    assert inbox(person, types="reply")["unread"] == len(InboxType), "unread counts every type"


def test_tail_is_the_cursor_after_all_events(ada: Account) -> None:
    tell(ada, "reply")
    tail = inbox(Api.as_person(ada), tail="true")
    assert (tail["events"], tail["hasMore"], tail["unread"]) == ([], False, 1)
    tell(ada, "mention")
    assert [event["type"] for event in events(Api.as_person(ada), cursor=tail["nextCursor"])] == ["mention"]


def test_an_inbox_shows_only_ones_own_events(ada: Account, agent: TokenHolder) -> None:
    tell(ada, "reply")
    tell(agent.account, "quote")
    assert [event["type"] for event in events(Api.as_person(ada))] == ["reply"]
    assert [event["type"] for event in events(agent.api)] == ["quote"]
    assert events(agent.operator) == []


def test_events_of_inboxes_are_no_public_changes(ada: Account) -> None:
    tell(ada, *InboxType)
    assert Api().get("/v1/changes").json["changes"] == []


def test_a_cursor_belongs_to_its_account_and_its_types(ada: Account) -> None:
    tell(ada, "reply", "quote")
    person, other = Api.as_person(ada), Api.as_person(PersonFactory())
    cursor = inbox(person, limit=1)["nextCursor"]
    typed = inbox(person, limit=1, types="reply,quote")["nextCursor"]
    for caller, query in (
        (other, {"cursor": cursor}),
        (person, {"cursor": cursor, "types": "reply"}),
        (person, {"cursor": typed}),
        (person, {"cursor": Api().get("/v1/changes", tail="true").json["nextCursor"]}),
    ):
        answer = caller.get("/v1/inbox", **query)
        assert (answer.status, answer.error) == (400, "invalid_cursor")
    assert len(events(person, cursor=typed, types="quote,reply,quote")) == 1, "the order of types does not matter"


def test_a_malformed_query_is_400(agent: TokenHolder) -> None:
    for query, code in [
        ({"types": "reply,gossip"}, "invalid_input"),
        ({"types": ""}, "invalid_input"),
        ({"types": "message.created"}, "invalid_input"),
        ({"types": "reply," * 5_000}, "invalid_input"),
        ({"limit": "0"}, "invalid_input"),
        ({"limit": "ten"}, "invalid_input"),
        ({"tail": "maybe"}, "invalid_input"),
        ({"cursor": ""}, "invalid_cursor"),
        ({"cursor": "x" * 200}, "invalid_cursor"),
        ({"cursor": "AAAA"}, "invalid_cursor"),
        ({"cursor": "ü"}, "invalid_cursor"),
    ]:
        answer = agent.api.get("/v1/inbox", **query)
        assert (answer.status, answer.error) == (400, code), (query, code)


def test_a_cursor_before_pruned_events_is_410(ada: Account) -> None:
    tell(ada, "reply", "quote", "mention")
    person = Api.as_person(ada)
    first, second, _third = events(person)
    Change.objects.filter(type__in=["reply", "quote"]).update(at="2026-01-01T00:00:00Z")
    assert pruning.prune(now=database_now(), dry_run=False) == {"changes": 2}
    answer = person.get("/v1/inbox", cursor=first["id"])
    assert (answer.status, answer.error) == (410, "cursor_expired")
    assert [event["type"] for event in events(person, cursor=second["id"])] == ["mention"]
    assert [event["type"] for event in events(person)] == ["mention"]


def test_responses_are_private_and_not_stored(ada: Account, agent: TokenHolder) -> None:
    for caller in (Api.as_person(ada), agent.api):
        headers = caller.get("/v1/inbox").headers
        assert headers["Cache-Control"] == "private, no-store"
        assert "ETag" not in headers


def test_any_valid_agent_token_reads_the_inbox_of_its_agent() -> None:
    limited = agent_with_token(scopes=["react"])
    assert [event["type"] for event in events(limited.api)] == ["request_decided"]
    revoke_token(token_id=limited.token.pk, by=limited.request.requester)
    assert limited.api.get("/v1/inbox").error == "token_revoked"


def test_sign_in_tokens_and_strangers_are_401(ada: Account) -> None:
    assert Api().get("/v1/inbox").error == "not_authenticated"
    assert Api.as_signed_in(ada).get("/v1/inbox").error == "invalid_token"


def test_unread_is_counted_up_to_a_limit(ada: Account) -> None:
    tell(ada, *["reply"] * (UNREAD_MAX + 5))
    assert inbox(Api.as_person(ada))["unread"] == UNREAD_MAX


def test_the_number_of_queries_does_not_depend_on_the_events(ada: Account, django_assert_num_queries: Any) -> None:
    posts = [MessageFactory() for _ in range(20)]
    append(
        [NewChange(type="mention", account_id=ada.pk, message_id=post.pk, actor_id=post.author_id) for post in posts]
    )
    person = Api.as_person(ada)
    inbox(person)
    with django_assert_num_queries(6):  # the credential, the horizon, events, posts, accounts, unread
        assert len(events(person, limit=20)) == 20


def test_a_response_with_several_posts_is_at_most_2_mib(ada: Account) -> None:
    posts = [MessageFactory(content="\x01" * 20_000) for _ in range(40)]
    append([NewChange(type="mention", account_id=ada.pk, message_id=post.pk) for post in posts])
    person, seen, cursor = Api.as_person(ada), [], {}
    while True:
        answer = person.get("/v1/inbox", limit=100, **cursor)
        assert len(answer.body) < 2.1 * 1024 * 1024
        seen += [event["message"]["id"] for event in answer.json["events"]]
        cursor = {"cursor": answer.json["nextCursor"]}
        if not answer.json["hasMore"]:
            break
    assert seen == [str(post.pk) for post in posts]
