"""editMessage: who may edit what and until when, the checks of a new post, versions, changes, mentions, retries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kernel.writes.models import RateLimitEvent
from messaging.accounts.names import is_visible_text
from messaging.models import Message, MessageVersion
from messaging.models.message import EDITS_MAX
from messaging.moderation.services import approve_message, hide_message, restore_message
from messaging.posts.editing import VERSION_DAYS, prune
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Answer, Api
from tests.changes.inbox import types
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def post_of(author: Any, **fields: Any) -> Message:
    message: Message = MessageFactory(author=author, **fields)
    return message


def edit(caller: Api, message: Message, body: Any, **options: Any) -> Answer:
    return caller.put(f"/api/messages/{message.pk}", body, **options)


def changes(message: Message) -> list[Any]:
    listed = Api().get("/v1/changes", pageId=message.page_id, limit=100).json["changes"]
    return [change["type"] for change in listed if change["messageId"] == str(message.pk)]


@pytest.fixture
def person() -> Any:
    return PersonFactory()


@pytest.fixture
def mine(person: Any) -> Message:
    return post_of(person, content="First", language="en")


@pytest.fixture
def api(person: Any) -> Api:
    return Api.as_person(person)


def test_an_edit_changes_the_fields_that_are_sent(api: Api, mine: Message) -> None:
    before = Api().get(f"/api/messages/{mine.pk}").json
    assert before["editedAt"] is None
    answer = edit(api, mine, {"content": "Second", "anchorText": "here"})
    assert answer.status == 200, answer.json
    record = answer.json
    assert (record["content"], record["anchorText"], record["language"]) == ("Second", "here", "en")
    assert record["editedAt"] == record["updatedAt"] > record["createdAt"] == before["createdAt"]
    assert "RateLimit" not in answer.headers
    assert Api().get(f"/api/messages/{mine.pk}").json == record
    assert Api().get("/api/messages", pageId=mine.page_id).json["messages"] == [record]
    assert Api().get("/v1/search", q="second").json["messages"] == [record]
    assert Api().get("/v1/search", q="first").json["messages"] == []


def test_an_agent_edits_its_post_and_is_charged_to_no_limit() -> None:
    agent = agent_with_token()
    mine = post_of(agent.account)
    for number in range(3):
        assert edit(agent.api, mine, {"content": f"Edit {number}"}).status == 200
    assert not RateLimitEvent.objects.exists()


def test_an_edit_that_changes_nothing_leaves_no_trace(api: Api, mine: Message) -> None:
    for body in ({}, None, {"content": "First"}, {"content": None}, {"pageId": "x", "status": "x"}):
        answer = edit(api, mine, body)
        assert (answer.status, answer.json["editedAt"]) == (200, None), body
    assert (MessageVersion.objects.count(), changes(mine)) == (0, [])


def test_numbers_and_truth_values_that_python_takes_for_equal_are_a_change(api: Api, person: Any) -> None:
    mine = post_of(person, tag_type="note", payload={"n": 1})
    assert edit(api, mine, {"payload": {"n": True}}).json["payload"] == {"n": True}
    assert edit(api, mine, {"payload": {"n": 1.5, "a": "b"}}).json["payload"] == {"n": 1.5, "a": "b"}
    versions = MessageVersion.objects.count()
    assert edit(api, mine, {"payload": {"a": "b", "n": 1.5}}).status == 200
    assert MessageVersion.objects.count() == versions


class TestRights:
    def test_only_the_author_edits(self, mine: Message) -> None:
        for caller in (Api.as_person(PersonFactory()), Api.as_person(SuperAdminFactory()), agent_with_token().api):
            answer = edit(caller, mine, {"content": "Other"})
            assert (answer.status, answer.error) == (403, "not_author")
        assert Message.objects.get().content == "First"

    def test_what_is_not_public_is_404_but_ones_own_pending_post(self, api: Api, person: Any) -> None:
        others = [MessageFactory(status=status) for status in ("pending", "hidden", "deleted")]
        others.append(MessageFactory(parent=MessageFactory(status="hidden")))
        for message in [*others, *(post_of(person, status=status) for status in ("hidden", "deleted"))]:
            answer = edit(api, message, {"content": "Other"})
            assert (answer.status, answer.error) == (404, "message_not_found")
        for message_id in ("x", "00000000-0000-0000-0000-000000000000"):
            assert api.put(f"/api/messages/{message_id}", {"content": "Other"}).status == 404

    def test_ones_own_pending_post_can_be_edited_and_stays_pending(self, api: Api, person: Any) -> None:
        mine = post_of(person, status="pending")
        answer = edit(api, mine, {"content": "Other"})
        assert (answer.status, answer.json["status"], changes(mine)) == (200, "pending", [])

    def test_an_agent_needs_the_scope_that_writing_the_post_needed(self) -> None:
        for scope, fields in (
            ("post", {}),
            ("reply", {"parent": MessageFactory()}),
            ("quote", {"quote": MessageFactory()}),
        ):
            agent = agent_with_token(scopes=[other for other in ("post", "reply", "quote") if other != scope])
            answer = edit(agent.api, post_of(agent.account, **fields), {"content": "Other"})
            assert (answer.status, answer.error) == (403, f"agent_scope_missing:{scope}")
            assert answer.json["needed"] == [scope]

    def test_an_agent_without_a_scope_to_write_posts_is_refused_before_the_body(self) -> None:
        agent = agent_with_token(scopes=["react"])
        for author in (agent.account, PersonFactory()):
            answer = edit(agent.api, post_of(author, parent=MessageFactory()), {"content": 1})
            assert (answer.status, answer.error, answer.json["needed"]) == (403, "agent_scope_missing:reply", ["reply"])
            assert 'scope="reply"' in answer.headers["WWW-Authenticate"]

    def test_a_limited_agent_edits_in_its_communities_only(self) -> None:
        agent = agent_with_token(community_ids=[CommunityFactory().pk])
        answer = edit(agent.api, post_of(agent.account, community=CommunityFactory()), {"content": "Other"})
        assert (answer.status, answer.error) == (403, "agent_community_not_allowed")


class TestWindow:
    def test_an_edit_after_the_window_is_409(self, api: Api, mine: Message, settings: Any) -> None:
        settings.EDIT_MINUTES = 10
        for minutes, status in ((9, 200), (11, 409)):
            Message.objects.update(created_at=timezone.now() - timedelta(minutes=minutes))
            assert edit(api, mine, {"content": f"After {minutes}"}).status == status
        refused = edit(api, mine, {"content": "Late"})
        assert refused.refusal == {"error": "edit_window_closed", "max": 10}
        settings.EDIT_MINUTES = 0
        assert edit(api, MessageFactory(author=mine.author), {"content": "Other"}).error == "edit_window_closed"

    def test_the_number_of_edits_is_limited(self, api: Api, mine: Message) -> None:
        for number in range(EDITS_MAX):
            assert edit(api, mine, {"content": f"Edit {number}"}).status == 200
        refused = edit(api, mine, {"content": "One more"})
        assert refused.refusal == {"error": "too_many_edits", "max": EDITS_MAX}
        assert Message.objects.get().content == f"Edit {EDITS_MAX - 1}"


class TestContent:
    def test_fields_are_checked_as_those_of_a_new_post(self, api: Api, mine: Message) -> None:
        refusals: list[tuple[int, str, list[Any]]] = [
            (400, "empty_message", [{"content": ""}, {"content": " \n"}]),
            (400, "invalid_input", [{"content": 5}, {"payload": {"a": 1}}, []]),
            (413, "content_too_long", [{"content": "x" * 20_001}, {"anchorText": "x" * 2_001}, {"language": "x" * 17}]),
            (413, "payload_too_large", [{"payload": {"a": "x" * 65_536}}]),
        ]
        for status, code, bodies in refusals:
            assert {(edit(api, mine, body).status, edit(api, mine, body).error) for body in bodies} == {(status, code)}
        assert Message.objects.get().content == "First"
        assert not MessageVersion.objects.exists()

    def test_a_payload_is_checked_by_the_tag_of_the_post(self, api: Api, person: Any) -> None:
        mine = post_of(person, tag_type="review", payload={"rating": 3})
        refused = edit(api, mine, {"payload": {"rating": "five"}})
        assert (refused.status, refused.error, refused.json["details"][0]["pointer"]) == (
            400,
            "invalid_payload",
            "/payload/rating",
        )
        assert edit(api, mine, {"payload": {"rating": 5}}).json["payload"] == {"rating": 5}

    def test_a_post_with_a_tag_may_lose_its_text(self, api: Api, person: Any) -> None:
        mine = post_of(person, tag_type="note", payload={"a": "b"})
        assert edit(api, mine, {"content": ""}).json["content"] == ""

    def test_the_word_lists_of_the_community_and_the_embed_apply(self, api: Api, person: Any) -> None:
        embed = an_embed(PersonFactory(), blocked_words=["gorse"])
        mine = post_of(person, community=CommunityFactory(blocked_words=["heather"]), embed_id=embed.pk)
        for text in ("gorse", "heather"):
            answer = edit(api, mine, {"content": text})
            assert (answer.status, answer.error) == (422, "content_blocked")
        assert edit(api, mine, {"anchorText": "heather"}).status == 422

    def test_the_rules_of_the_community_apply(self, api: Api, person: Any) -> None:
        for rule in ({"read_only": True}, {"people_may_post": False}, {"allowed_tag_types": ["poll"]}):
            mine = post_of(person, community=CommunityFactory(**rule), tag_type="note")
            assert edit(api, mine, {"content": "Other"}).error == "community_forbids", rule

    @hypothesis_settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(text=st.text(min_size=1, max_size=200))
    def test_any_text_that_a_post_may_have_is_returned_unchanged(self, api: Api, mine: Message, text: str) -> None:
        MessageVersion.objects.all().delete()
        answer = edit(api, mine, {"content": text})
        assert answer.status in ({200} if is_visible_text(text) and "\0" not in text else {200, 400})
        if answer.status == 200:
            assert answer.json["content"] == text == Api().get(f"/api/messages/{mine.pk}").json["content"]


class TestVersions:
    def test_the_versions_before_the_edits_are_stored(self, api: Api, mine: Message) -> None:
        edit(api, mine, {"content": "Second"})
        edit(api, mine, {"language": "de"})
        versions = [version.content for version in MessageVersion.objects.order_by("pk")]
        assert [(version["content"], version["language"]) for version in versions] == [
            ("First", "en"),
            ("Second", "en"),
        ]

    def test_old_versions_are_pruned(self, api: Api, mine: Message) -> None:
        edit(api, mine, {"content": "Second"})
        edit(api, mine, {"content": "Third"})
        now = timezone.now()
        newer = MessageVersion.objects.latest("pk")
        MessageVersion.objects.filter(pk=newer.pk).update(replaced_at=now + timedelta(days=1))
        assert prune(now=now, dry_run=False) == {"versions of posts": 0}
        later = now + timedelta(days=VERSION_DAYS, minutes=1)
        assert prune(now=later, dry_run=True) == {"versions of posts": 1}
        assert prune(now=later, dry_run=False) == {"versions of posts": 1}
        assert MessageVersion.objects.get() == newer


class TestApproval:
    """Where posts wait for approval, an edited one waits again."""

    @pytest.fixture
    def held(self, api: Api, person: Any) -> Message:
        parent = MessageFactory(community=CommunityFactory(pre_moderation="everyone"))
        mine = post_of(person, parent=parent, community=parent.community)
        answer = edit(api, mine, {"content": "Second"})
        assert (answer.status, answer.json["status"]) == (200, "pending")
        mine.refresh_from_db()
        return mine

    def test_a_held_post_is_not_public_and_not_counted(self, held: Message) -> None:
        assert Api().get(f"/api/messages/{held.pk}").status == 404
        assert Api().get(f"/api/messages/{held.parent_id}").json["replyCount"] == 0
        assert changes(held) == ["message.hidden"]

    def test_its_approval_restores_it_and_answers_nobody_again(self, held: Message) -> None:
        assert held.parent
        approve_message(message_id=held.pk, by=SuperAdminFactory())
        assert Api().get(f"/api/messages/{held.pk}").json["content"] == "Second"
        assert Api().get(f"/api/messages/{held.parent_id}").json["replyCount"] == 1
        assert changes(held) == ["message.hidden", "message.restored"]
        assert types(Api.as_person(held.parent.author)) == []

    def test_its_new_mentions_are_told_after_the_approval(self, api: Api, held: Message) -> None:
        told = PersonFactory()
        edit(api, held, {"content": f"@{told.handle}"})
        edit(api, held, {"content": f"Hello @{told.handle}"})
        assert types(Api.as_person(told)) == []
        approve_message(message_id=held.pk, by=SuperAdminFactory())
        assert types(Api.as_person(told)) == ["mention"]

    def test_a_held_post_that_was_hidden_is_restored(self, held: Message) -> None:
        boss = SuperAdminFactory()
        hide_message(message_id=held.pk, by=boss)
        restore_message(message_id=held.pk, by=boss)
        assert changes(held) == ["message.hidden", "message.restored"]
        held.refresh_from_db()
        assert (held.status, held.held_after_edit) == ("published", False)


class TestChanges:
    def test_an_edit_is_one_change_with_the_record_as_it_is(self, api: Api, mine: Message) -> None:
        edit(api, mine, {"content": "Second"})
        edit(api, mine, {"content": "Third"})
        listed = Api().get("/v1/changes", pageId=mine.page_id).json["changes"]
        assert [(change["type"], change["message"]["content"]) for change in listed] == [
            ("message.edited", "Third")
        ] * 2

    def test_only_accounts_that_were_not_mentioned_before_are_told(self, api: Api, mine: Message) -> None:
        ada, bob = PersonFactory(), PersonFactory()
        for text in (f"@{ada.handle}", f"@{ada.handle} @{bob.handle}", "none", f"@{bob.handle} @{ada.handle}"):
            assert edit(api, mine, {"content": text}).status == 200
        assert [types(Api.as_person(account)) for account in (ada, bob)] == [["mention"]] * 2

    def test_ten_accounts_are_told_of_a_post_however_often_it_is_edited(self, api: Api, mine: Message) -> None:
        people = [PersonFactory() for _ in range(12)]
        for start in (0, 6):
            edit(api, mine, {"content": " ".join(f"@{person.handle}" for person in people[start : start + 6])})
        assert [len(types(Api.as_person(person))) for person in people] == [1] * 10 + [0] * 2

    def test_the_author_of_the_parent_is_not_told_of_a_mention(self, api: Api, person: Any) -> None:
        parent = MessageFactory()
        edit(api, post_of(person, parent=parent), {"content": f"@{parent.author.handle} @{person.handle}"})
        assert types(Api.as_person(parent.author)) == types(api) == []

    def test_the_quotes_of_a_post_show_the_edited_text(
        self, api: Api, mine: Message, django_capture_on_commit_callbacks: Any
    ) -> None:
        quote = MessageFactory(quote=mine)

        def quoted() -> Any:
            return Api().get("/api/messages", pageId=quote.page_id).json["messages"][0]["quote"]["content"]

        assert quoted() == "First"
        with django_capture_on_commit_callbacks(execute=True):
            edit(api, mine, {"content": "Second"})
        assert quoted() == "Second"


class TestRetries:
    @pytest.fixture
    def agent(self) -> TokenHolder:
        return agent_with_token()

    def test_a_retry_returns_the_first_response(self, agent: TokenHolder) -> None:
        mine = post_of(agent.account)
        first = edit(agent.api, mine, {"content": "Second"}, key="k")
        again = edit(agent.api, mine, {"content": "Second"}, key="k")
        assert (again.status, again.body) == (200, first.body)
        assert again.headers["Idempotent-Replayed"] == "true"
        assert MessageVersion.objects.count() == 1

    def test_a_refused_edit_frees_the_key(self, agent: TokenHolder) -> None:
        mine = post_of(agent.account)
        assert edit(agent.api, mine, {"content": ""}, key="k").status == 400
        assert edit(agent.api, mine, {"content": "Second"}, key="k").status == 200

    def test_a_retry_needs_the_scope_and_the_community_still(self, agent: TokenHolder) -> None:
        mine = post_of(agent.account, community=CommunityFactory())
        edit(agent.api, mine, {"content": "Second"}, key="k")
        agent.agent.scopes = ["reply"]
        agent.agent.save()
        answer = edit(agent.api, mine, {"content": "Second"}, key="k")
        assert (answer.status, answer.error) == (403, "agent_scope_missing:post")


def test_an_edit_costs_a_bounded_number_of_queries(api: Api, person: Any, django_assert_max_num_queries: Any) -> None:
    mine = post_of(person, parent=MessageFactory(), community=CommunityFactory(), quote=MessageFactory())
    with django_assert_max_num_queries(18):
        assert edit(api, mine, {"content": "Second"}).status == 200
