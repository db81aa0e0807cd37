"""POST /v1/inbox/read: an account marks events as read, and GET /v1/inbox?unread=true lists the others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F, Max
from django.utils import timezone

from kernel.changes.log import NewChange, append
from kernel.changes.models import Change, ChangeLog, ReadPosition
from kernel.changes.pruning import prune
from messaging.models import Account
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.changes.inbox import events, inbox
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/v1/inbox/read"


@pytest.fixture
def ada() -> Account:
    """A person with five events."""
    person = PersonFactory(handle="ada")
    append([NewChange(type="reply", account_id=person.pk)] * 5)
    return person


def mark(caller: Api, cursor: Any, **options: Any) -> Any:
    answer = caller.post(PATH, {"cursor": cursor}, **options)
    assert answer.status == 200, answer.json
    return answer.json


def test_responses_are_private_and_not_stored(ada: Account) -> None:
    person = Api.as_person(ada)
    answer = person.post(PATH, {"cursor": inbox(person)["nextCursor"]})
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_events_after_the_marked_one_are_unread(ada: Account) -> None:
    person = Api.as_person(ada)
    ids = [event["id"] for event in events(person)]
    assert inbox(person)["unread"] == 5
    assert mark(person, ids[1]) == {"unread": 3}
    assert inbox(person)["unread"] == 3
    assert mark(person, inbox(person)["nextCursor"]) == {"unread": 0}
    append([NewChange(type="quote", account_id=ada.pk)])
    assert inbox(person)["unread"] == 1


def test_an_earlier_mark_changes_nothing(ada: Account) -> None:
    person = Api.as_person(ada)
    ids = [event["id"] for event in events(person)]
    mark(person, ids[3])
    assert mark(person, ids[0]) == {"unread": 1}
    assert mark(person, ids[3]) == {"unread": 1}


def test_a_mark_does_not_remove_events(ada: Account) -> None:
    person = Api.as_person(ada)
    before = events(person)
    mark(person, inbox(person, tail="true")["nextCursor"])
    assert events(person) == before


def test_the_marks_of_two_people_are_independent(ada: Account) -> None:
    other = PersonFactory()
    append([NewChange(type="reply", account_id=other.pk)] * 2)
    mark(Api.as_person(other), events(Api.as_person(other))[0]["id"])
    mark(Api.as_person(ada), inbox(Api.as_person(ada))["nextCursor"])
    assert inbox(Api.as_person(other))["unread"] == 1


def test_an_agent_marks_its_own_inbox_and_lists_what_is_unread() -> None:
    agent, other = agent_with_token(scopes=["react"]), agent_with_token()
    for account in (agent.account, other.account):
        append([NewChange(type="reply", account_id=account.pk)] * 3)
    ids = [event["id"] for event in events(agent.api, unread="true")]
    mine = inbox(agent.api)["unread"]
    assert len(ids) == mine
    assert mark(agent.api, ids[-2]) == {"unread": 1}
    assert [event["id"] for event in events(agent.api, unread="true")] == ids[-1:]
    assert len(events(agent.api)) == mine
    assert inbox(other.api)["unread"] == len(events(other.api, unread="true")) == mine
    assert len(events(agent.operator, unread="true")) == inbox(agent.operator)["unread"]


def test_unread_events_are_listed_in_pages_also_after_an_earlier_cursor(ada: Account) -> None:
    person = Api.as_person(ada)
    ids = [event["id"] for event in events(person)]
    mark(person, ids[1])
    first = inbox(person, unread="true", limit=2)
    assert ([event["id"] for event in first["events"]], first["hasMore"], first["unread"]) == (ids[2:4], True, 3)
    assert [event["id"] for event in events(person, unread="true", cursor=first["nextCursor"])] == ids[4:]
    assert [event["id"] for event in events(person, unread="true", cursor=ids[0])] == ids[2:]
    assert len(events(person, unread="true", types="reply")) == 3
    assert mark(person, inbox(person, unread="true")["nextCursor"]) == {"unread": 0}
    nothing = inbox(person, unread="true")
    assert (nothing["events"], nothing["hasMore"], nothing["unread"]) == ([], False, 0)
    assert person.get("/v1/inbox", unread="maybe").error == "invalid_input"


def test_a_mark_before_the_oldest_stored_event_lists_all_of_them(ada: Account) -> None:
    person = Api.as_person(ada)
    mark(person, events(person)[0]["id"])
    Change.objects.update(at=timezone.now() - timedelta(days=31))
    prune(now=timezone.now(), dry_run=False)
    append([NewChange(type="quote", account_id=ada.pk)])
    assert [event["type"] for event in events(person, unread="true")] == ["quote"]


def test_a_malformed_body_is_400(ada: Account) -> None:
    for body, code in [
        ({}, "invalid_input"),
        ({"cursor": None}, "invalid_input"),
        ({"cursor": 5}, "invalid_input"),
        ({"cursor": ["x"]}, "invalid_input"),
        ({"cursor": ""}, "invalid_cursor"),
        ({"cursor": "nonsense"}, "invalid_cursor"),
        ({"cursor": "A" * 56}, "invalid_cursor"),
        ({"cursor": "A" * 129}, "invalid_cursor"),
        ([], "invalid_input"),
    ]:
        answer = Api.as_person(ada).post(PATH, body)
        assert (answer.status, answer.error) == (400, code), (body, code)
        assert not ReadPosition.objects.exists(), (body, code)


def test_the_cursor_of_another_account_or_of_some_types_is_400(ada: Account) -> None:
    person = Api.as_person(ada)
    cursors = [inbox(Api.as_person(PersonFactory()))["nextCursor"], inbox(person, types="reply")["nextCursor"]]
    for cursor in cursors:
        answer = person.post(PATH, {"cursor": cursor})
        assert (answer.status, answer.error) == (400, "invalid_cursor")


def test_after_a_restore_the_old_cursor_is_410_and_new_events_are_unread(ada: Account) -> None:
    person = Api.as_person(ada)
    cursor = events(person)[2]["id"]
    mark(person, cursor)
    Change.objects.update(xid=F("xid") + 10**15)
    ChangeLog.objects.update(cluster="another")
    answer = person.post(PATH, {"cursor": cursor})
    assert (answer.status, answer.error) == (410, "cursor_expired")
    assert inbox(person)["unread"] == 0, "the positions of the rows are others: they count as read"
    append([NewChange(type="quote", account_id=ada.pk)])
    assert inbox(person)["unread"] == 1
    assert mark(person, events(person)[-1]["id"]) == {"unread": 0}


def test_after_a_failover_the_events_after_the_mark_are_unread(ada: Account) -> None:
    person = Api.as_person(ada)
    mark(person, events(person)[2]["id"])
    ChangeLog.objects.update(cluster="another")
    assert inbox(person)["unread"] == 2


def test_after_a_failover_that_lost_the_marked_event_new_ones_are_unread(ada: Account) -> None:
    person = Api.as_person(ada)
    cursor = events(person)[-1]["id"]
    mark(person, cursor)
    Change.objects.filter(id=Change.objects.aggregate(last=Max("id"))["last"]).delete()
    answer = person.post(PATH, {"cursor": cursor})
    assert (answer.status, answer.error) == (410, "cursor_expired")
    ChangeLog.objects.update(cluster="another")
    inbox(person)
    newest = Change.objects.order_by("-xid", "-id")[0]
    assert ReadPosition.objects.values_list("xid", "row_id").get() == (newest.xid, newest.id)


def test_a_retry_gets_the_first_response(ada: Account) -> None:
    person = Api.as_person(ada)
    cursor = events(person)[2]["id"]
    first = mark(person, cursor, key="once")
    append([NewChange(type="quote", account_id=ada.pk)])
    assert mark(person, cursor, key="once") == first == {"unread": 2}


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_marks_the_latest_counts(ada: Account) -> None:
    person = Api.as_person(ada)
    ids = [event["id"] for event in events(person)]
    for start in (0, 1):
        race(4, lambda number, start=start: mark(person, ids[start + number]))
        assert inbox(person)["unread"] == 5 - (start + 4)
