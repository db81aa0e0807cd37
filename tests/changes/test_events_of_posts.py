"""The events of inboxes about posts: replies, quotes, mentions and moderation."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel.changes.models import Change
from messaging.inbox.events import LOOKUPS_MAX, MENTIONS_MAX, SERVICE, mentioned_handles
from messaging.models import Account, Message
from messaging.moderation.services import approve_message, hide_message, restore_message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.changes.inbox import events, inbox, types
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Account:
    return PersonFactory(handle="ada")


@pytest.fixture
def writer() -> Account:
    return PersonFactory(handle="writer")


def post(author: Account, page_id: str, **fields: Any) -> Any:
    answer = Api.as_person(author).post("/api/messages", {"pageId": page_id, "content": "Hello", **fields})
    assert answer.status == 201, answer.json
    return answer.json


def summary(event: Any) -> tuple[Any, ...]:
    return event["type"], event["messageId"], event["aboutId"]


def test_a_reply_is_an_event_of_the_author_of_the_parent(ada: Account, writer: Account) -> None:
    parent = MessageFactory(author=ada)
    reply = post(writer, parent.page_id, parentId=str(parent.pk))
    (event,) = events(Api.as_person(ada))
    assert event | {"id": "", "at": "", "message": {}} == {
        "id": "",
        "type": "reply",
        "at": "",
        "actor": {"id": str(writer.pk), "name": writer.name, "handle": "writer", "kind": "human"},
        "pageId": parent.page_id,
        "messageId": reply["id"],
        "message": {},
        "aboutId": str(parent.pk),
        "data": {},
    }
    assert event["message"] == reply
    assert event["at"].endswith("Z")
    assert events(Api.as_person(writer)) == []


def test_a_quote_is_an_event_of_the_author_of_the_quoted_post(ada: Account, writer: Account) -> None:
    quoted = MessageFactory(author=ada)
    quote = post(writer, PageFactory().pk, quoteId=str(quoted.pk))
    assert [summary(event) for event in events(Api.as_person(ada))] == [("quote", quote["id"], str(quoted.pk))]


def test_a_reply_and_a_quote_of_two_posts_are_two_events_and_no_mention(ada: Account, writer: Account) -> None:
    parent, quoted = MessageFactory(author=ada), MessageFactory(author=ada)
    ids = {"parentId": str(parent.pk), "quoteId": str(quoted.pk)}
    answer = post(writer, parent.page_id, content="As @ada says", **ids)
    assert [summary(event) for event in events(Api.as_person(ada))] == [
        ("reply", answer["id"], str(parent.pk)),
        ("quote", answer["id"], str(quoted.pk)),
    ]


def test_a_reply_that_quotes_its_parent_is_one_event(ada: Account, writer: Account) -> None:
    parent = MessageFactory(author=ada)
    post(writer, parent.page_id, parentId=str(parent.pk), quoteId=str(parent.pk))
    assert types(Api.as_person(ada)) == ["reply"]


def test_ones_own_answers_and_mentions_make_no_event(ada: Account) -> None:
    own = MessageFactory(author=ada)
    post(ada, own.page_id, content="@ada, that is me", parentId=str(own.pk), quoteId=str(own.pk))
    assert not Change.objects.filter(account_id__isnull=False).exists()


def test_a_mention_is_an_event_of_people_and_of_agents(ada: Account, writer: Account) -> None:
    agent = agent_with_token(agent_handle="helper_x")
    mention = post(writer, PageFactory().pk, content="@Ada and @HELPER_X, what do you think?")
    for caller in (Api.as_person(ada), agent.api):
        assert summary(events(caller)[-1]) == ("mention", mention["id"], None)


def test_a_handle_is_mentioned_outside_of_code_and_addresses_and_beside_any_other_script() -> None:
    for text, handles in [
        ("@ada", ["ada"]),
        ("(@ada), @bob_1! “@cyn”", ["ada", "bob_1", "cyn"]),
        ("@ADA @Ada @ada", ["ada"]),
        ("ada@ada.example x@ada 1@ada @ada1_", ["ada1_"]),
        ("谢谢@ada的回答 고마워요@bob_1님 ขอบคุณ@cynครับ شكرا@dan", ["ada", "bob_1", "cyn", "dan"]),
        ("\uff20ada 谢\uff20bob x\uff20cyn", ["ada", "bob"]),
        ("**@ada** _@bob_ [@cyn](https://a.example/) `@dan` https://a.example/@eve", ["ada", "bob"]),
        ("> @ada\n- @bob\n\n```\n@cyn\n```\n~~~\n@dan", ["ada", "bob"]),
        (r"@ada\_b x\@bob \@cyn `@dan", ["ada_b", "cyn", "dan"]),
        ("@ada" + "*a* `@bob` " * 1_900, ["ada", "bob"]),
        ("@ab @" + "x" * 31, []),
        ("@@ada\n@bob/@cyn", ["ada", "bob", "cyn"]),
        ("@ada-bob @ada.bob @ada's", ["ada"]),
        ("@\u212aelvin @\u017fa", []),
        ("@ada\u200b@bob", ["ada", "bob"]),
        ("", []),
        ("@ @@ @\x00ada", []),
    ]:
        assert mentioned_handles(text) == handles, (text, handles)


def test_at_most_ten_accounts_are_mentioned_in_the_order_of_the_text(writer: Account) -> None:
    people = [PersonFactory() for _ in range(MENTIONS_MAX + 2)]
    text = "@nobody_at_all " + " ".join(f"@{person.handle}" for person in reversed(people))
    post(writer, PageFactory().pk, content=text)
    told = Change.objects.filter(type="mention").order_by("id").values_list("account_id", flat=True)
    assert list(told) == [person.pk for person in reversed(people)][:MENTIONS_MAX]


def test_a_text_full_of_handles_looks_up_a_bounded_number(writer: Account) -> None:
    text = " ".join(f"@h_{number}" for number in range(2_000))
    assert mentioned_handles(text) == [f"h_{number}" for number in range(LOOKUPS_MAX)]
    with CaptureQueriesContext(connection) as captured:
        post(writer, PageFactory().pk, content=text)
    assert sum("messaging_account WHERE handle" in query["sql"] for query in captured) == 1


def test_a_post_without_an_at_sign_looks_up_no_handle(writer: Account) -> None:
    with CaptureQueriesContext(connection) as captured:
        post(writer, PageFactory().pk, content="Hello")
    assert not any("handle = ANY" in query["sql"] for query in captured)


def test_a_pending_post_makes_its_events_when_it_is_approved(ada: Account, writer: Account) -> None:
    bob, boss = PersonFactory(handle="bob"), SuperAdminFactory()
    parent = MessageFactory(author=ada, community=CommunityFactory(pre_moderation="everyone"))
    quoted = MessageFactory(author=bob)
    ids = {"parentId": str(parent.pk), "quoteId": str(quoted.pk)}
    pending = post(writer, parent.page_id, content="@bob @ada @mod", **ids)
    assert list(Change.objects.values_list("type", "account_id")) == [("post_pending", SERVICE)]
    approve_message(message_id=Message.objects.get(pk=pending["id"]).pk, by=boss)
    assert [summary(event) for event in events(Api.as_person(ada))] == [("reply", pending["id"], str(parent.pk))]
    assert [summary(event) for event in events(Api.as_person(bob))] == [("quote", pending["id"], str(quoted.pk))]
    (approved,) = events(Api.as_person(writer))
    assert (approved["type"], approved["data"]) == ("moderated", {"status": "published", "reason": None})


def test_a_restored_post_makes_no_second_event_of_its_answers(ada: Account, writer: Account) -> None:
    parent, boss = MessageFactory(author=ada), SuperAdminFactory()
    reply = Message.objects.get(pk=post(writer, parent.page_id, parentId=str(parent.pk))["id"])
    hide_message(message_id=reply.pk, by=boss)
    restore_message(message_id=reply.pk, by=boss)
    assert types(Api.as_person(ada)) == ["reply"]


def test_moderation_tells_the_author_the_status_and_the_reason_but_not_who(writer: Account) -> None:
    boss, message = SuperAdminFactory(), MessageFactory(author=writer)
    hide_message(message_id=message.pk, by=boss, reason="Rude")
    restore_message(message_id=message.pk, by=boss)
    found = events(Api.as_person(writer))
    assert [(event["type"], event["actor"], event["aboutId"], event["data"]) for event in found] == [
        ("moderated", None, None, {"status": "hidden", "reason": "Rude"}),
        ("moderated", None, None, {"status": "published", "reason": None}),
    ]
    assert {event["messageId"] for event in found} == {str(message.pk)}
    assert {event["pageId"] for event in found} == {message.page_id}
    hide_message(message_id=message.pk, by=boss)
    assert [event["message"] for event in events(Api.as_person(writer))] == [None] * 3


def test_the_moderation_of_ones_own_post_makes_no_event() -> None:
    boss = SuperAdminFactory()
    hide_message(message_id=MessageFactory(author=boss).pk, by=boss)
    assert types(Api.as_person(boss)) == []


def test_hiding_all_posts_of_an_author_is_an_event_for_each_post(writer: Account) -> None:
    boss = SuperAdminFactory()
    posts = [MessageFactory(author=writer, status=status) for status in ("published", "pending", "hidden")]
    hide_posts_of(author=writer, by=boss, reason="Spam")
    restore_posts_of(author=writer, by=boss)
    told = [(event["messageId"], event["data"]) for event in events(Api.as_person(writer))]
    assert told == [
        (str(posts[0].pk), {"status": "hidden", "reason": "Spam"}),
        (str(posts[1].pk), {"status": "hidden", "reason": "Spam"}),
        (str(posts[0].pk), {"status": "published", "reason": None}),
        (str(posts[1].pk), {"status": "pending", "reason": None}),
    ]


def test_an_answer_that_is_not_public_any_more_is_not_shown(ada: Account, writer: Account) -> None:
    parent = MessageFactory(author=ada)
    reply = post(writer, parent.page_id, parentId=str(parent.pk), content="A secret")
    hide_message(message_id=Message.objects.get(pk=reply["id"]).pk, by=SuperAdminFactory())
    (event,) = events(Api.as_person(ada))
    assert (event["messageId"], event["message"]) == (reply["id"], None)
    assert "A secret" not in str(inbox(Api.as_person(ada)))


def test_a_refused_post_makes_no_event(ada: Account, writer: Account) -> None:
    community = CommunityFactory(blocked_words=["spam"])
    body = {"pageId": PageFactory().pk, "content": "spam for @ada", "communityId": str(community.pk)}
    assert Api.as_person(writer).post("/api/messages", body).status == 422
    assert not Change.objects.exists()


def test_a_retry_makes_no_second_event(ada: Account) -> None:
    agent, body = agent_with_token(), {"pageId": PageFactory().pk, "content": "@ada"}
    for _ in range(2):
        assert agent.api.post("/api/messages", body, key="once").status == 201
    assert types(Api.as_person(ada)) == ["mention"]
