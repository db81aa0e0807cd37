"""checkMessage, and createMessage with `dryRun=true`: every check of the write, and no trace of it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from kernel.writes.models import RateLimitEvent, StoredResponse
from messaging.models import Account, Message, PageCount
from reactions.models import Reaction
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.openapi import published

pytestmark = pytest.mark.django_db
PATH = "/api/messages/check"
DRY_RUN = "/api/messages?dryRun=true"


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def page_id() -> str:
    return str(PageFactory().pk)


def try_out(caller: Api, page_id: str, **fields: Any) -> Answer:
    return caller.post(PATH, {"pageId": page_id, "content": "Hello", **fields})


def test_a_dry_run_returns_the_record_without_an_id(agent: TokenHolder, page_id: str) -> None:
    answer = try_out(agent.api, page_id)
    assert answer.status == 200, answer.json
    assert answer.json["wouldBe"] == "published"
    assert "Location" not in answer.headers
    written = agent.api.post("/api/messages", {"pageId": page_id, "content": "Hello"}).json
    times = {"createdAt", "updatedAt"}
    expected = {name: value for name, value in written.items() if name not in {"id", "url"} | times}
    assert {name: value for name, value in answer.json["message"].items() if name not in times} == expected


@pytest.mark.django_db(transaction=True)
def test_a_dry_run_writes_spends_and_stores_nothing(agent: TokenHolder) -> None:
    parent, quote = MessageFactory(), MessageFactory()
    before = list(PageCount.objects.values("page_id", "posts", "replies"))
    fields = {"parentId": str(parent.pk), "quoteId": str(quote.pk), "content": f"@{quote.author.handle}"}
    for _ in range(3):
        answer = agent.api.post(PATH, {"pageId": parent.page_id, **fields}, key="k")
        assert (answer.status, answer.headers.get("Idempotent-Replayed")) == (200, None)
    assert Message.objects.count() == 2
    assert list(PageCount.objects.values("page_id", "posts", "replies")) == before
    assert not RateLimitEvent.objects.exists()
    assert not StoredResponse.objects.exists()
    assert Api().get("/v1/changes", pageId=parent.page_id).json["changes"] == []
    assert Api().get(f"/api/messages/{parent.pk}").json["replyCount"] == 0
    assert Api.as_person(quote.author).get("/v1/inbox").json["events"] == []


def test_the_limits_are_those_that_remain_now(agent: TokenHolder) -> None:
    parent = MessageFactory()
    agent.api.post("/api/messages", {"pageId": parent.page_id, "content": "x", "parentId": str(parent.pk)})
    answer = try_out(agent.api, parent.page_id, parentId=str(parent.pk), quoteId=str(parent.pk))
    assert answer.json["limits"] == [
        {"counter": "quote", "limit": 30, "remaining": 30},
        {"counter": "reply", "limit": 30, "remaining": 29},
    ]
    assert answer.headers["RateLimit"].startswith('"quote";r=30')


def test_a_post_that_would_wait_for_approval_is_pending(agent: TokenHolder, page_id: str) -> None:
    community = CommunityFactory(pre_moderation="agents")
    answer = try_out(agent.api, page_id, communityId=str(community.pk))
    assert (answer.json["wouldBe"], answer.json["message"]["status"]) == ("pending", "pending")


def test_a_refusal_is_that_of_the_write(agent: TokenHolder, page_id: str) -> None:
    nobody = "00000000-0000-0000-0000-000000000000"
    for fields, status, code in (
        ({"content": ""}, 400, "empty_message"),
        ({"content": "x" * 20_001}, 413, "content_too_long"),
        ({"pageId": "p1_" + "a" * 32}, 400, "unknown_page"),
        ({"parentId": nobody}, 404, "parent_not_found"),
        ({"communityId": nobody}, 404, "community_not_found"),
    ):
        body = {"pageId": page_id, "content": "Hello", **fields}
        tried, written = agent.api.post(PATH, body), agent.api.post("/api/messages", body)
        assert (tried.status, tried.error) == (status, code)
        assert (tried.status, tried.refusal) == (written.status, written.refusal)


def test_blocked_words_missing_scopes_and_spent_limits_are_refused(page_id: str, settings: Any) -> None:
    settings.HOURLY_LIMITS = dict.fromkeys(settings.HOURLY_LIMITS, 1)
    community = CommunityFactory(blocked_words=["gorse"])
    agent = agent_with_token(scopes=["post"])
    assert try_out(agent.api, page_id, content="gorse", communityId=str(community.pk)).status == 422
    assert try_out(agent.api, page_id, quoteId=str(MessageFactory().pk)).error == "agent_scope_missing:quote"
    assert agent.api.post("/api/messages", {"pageId": page_id, "content": "x"}).status == 201
    refused = try_out(agent.api, page_id)
    assert (refused.status, refused.error) == (429, "agent_rate_limited")
    assert refused.headers["Retry-After"]


def test_the_key_of_a_dry_run_is_not_used(agent: TokenHolder, page_id: str) -> None:
    body = {"pageId": page_id, "content": "Hello"}
    written = agent.api.post("/api/messages", body, key="k")
    assert agent.api.post(PATH, body, key="k").status == 200
    assert agent.api.post("/api/messages", body, key="k").body == written.body


def test_a_key_that_the_write_would_refuse_is_refused(agent: TokenHolder, page_id: str) -> None:
    body = {"pageId": page_id, "content": "Hello"}
    for key, path in product(("", "é", "k" * 161), (PATH, DRY_RUN, "/api/messages")):
        refused = agent.api.post(path, body, key=key)
        assert (refused.status, refused.error) == (400, "invalid_idempotency_key"), key


def test_another_value_or_spelling_of_the_parameter_is_400_and_writes_nothing(agent: TokenHolder, page_id: str) -> None:
    values = ("dryRun=maybe", "dryRun=", "dryRun=true&dryRun=true", "dryRun=tru")
    for query in (*values, *(f"{name}=true" for name in ("dryrun", "DRYRUN", "DryRun", "dry_run", "dry-run"))):
        answer = agent.api.post(f"/api/messages?{query}", {"pageId": page_id, "content": "Hello"})
        assert (answer.status, answer.refusal) == (400, {"error": "invalid_input", "field": "dryRun"}), query
    assert not Message.objects.exists()


def test_true_and_1_are_dry_runs_false_and_0_are_not(agent: TokenHolder, page_id: str) -> None:
    for query, status, posts in (("dryRun=1", 200, 0), ("dryRun=false", 201, 1), ("dryRun=0", 201, 2)):
        answer = agent.api.post(f"/api/messages?{query}", {"pageId": page_id, "content": "Hello"})
        assert (answer.status, Message.objects.count()) == (status, posts), query


def test_a_person_has_no_limits_and_is_throttled_as_for_a_read(page_id: str, settings: Any) -> None:
    assert try_out(Api(), page_id).error == "not_authenticated"
    settings.SOFT_THROTTLES = {**settings.SOFT_THROTTLES, "person": (1, 3600)}
    person = Api.as_person(PersonFactory())
    tried = [try_out(person, page_id) for _ in range(3)]
    assert [(answer.status, answer.json["limits"]) for answer in tried] == [(200, [])] * 3


@pytest.mark.parametrize("query", ["dryRun=true", "dryrun=1", "DRYRUN=", "dryRun=false", "x=1&dryRun"])
class TestWritesWithoutADryRun:
    def test_refuse_the_parameter_and_change_nothing(self, agent: TokenHolder, query: str) -> None:
        post = MessageFactory(author=agent.account, content="First")
        person = Api.as_person(PersonFactory())
        answers = [
            agent.api.put(f"/api/messages/{post.pk}?{query}", {"content": "Second"}),
            agent.api.delete(f"/api/messages/{post.pk}?{query}", key="k"),
            agent.api.post(f"/v1/reactions?{query}", {"messageId": str(post.pk), "emoji": "👍"}),
            person.post(f"/api/messages/{post.pk}/report?{query}", {"reason": "spam"}),
            Api().post(f"/api/auth/register?{query}", {"handle": "new_one", "name": "New", "password": "x" * 12}),
        ]
        for answer in answers:
            assert (answer.status, answer.refusal) == (400, {"error": "invalid_input", "field": "dryRun"})
            assert "checkMessage (POST /api/messages/check)" in answer.json["message"]
        assert Api().get(f"/api/messages/{post.pk}").json["content"] == "First"
        assert not Reaction.objects.exists()
        assert not StoredResponse.objects.exists()
        assert not Account.objects.filter(handle="new_one").exists()

    def test_say_first_who_may_call(self, query: str) -> None:
        assert Api().delete(f"/api/messages/{MessageFactory().pk}?{query}").error == "not_authenticated"

    def test_reads_ignore_it(self, page_id: str, query: str) -> None:
        assert Api().get(f"/api/messages?pageId={page_id}&{query}").status == 200


def test_a_dry_run_is_answered_as_a_check_and_names_it(agent: TokenHolder, page_id: str) -> None:
    body = {"pageId": page_id, "content": "Hello"}
    checked, dry_run = agent.api.post(PATH, body), agent.api.post(DRY_RUN, body)
    assert (checked.status, checked.json.keys()) == (200, dry_run.json.keys())
    assert [answer.headers.get("Deprecation") for answer in (checked, dry_run)] == [None, "@1795910400"]
    assert dry_run.headers["Link"].endswith('</api/messages/check>; rel="successor-version"')
    assert "dryRun" not in str(published())
    responses = published()["paths"]["/api/messages"]["post"]["responses"]
    assert [status for status in responses if status.startswith("2")] == ["201"]
    assert not Message.objects.exists()


def test_only_post_checks(agent: TokenHolder) -> None:
    assert [agent.api.send(method, PATH).status for method in ("GET", "PUT", "DELETE")] == [405] * 3


class TestAnotherSpellingOfAField:
    """An ignored `parent_id` would make a reply a new post."""

    @pytest.mark.parametrize(
        ("sent", "meant"),
        [("parent_id", "parentId"), ("ParentID", "parentId"), ("quote-id", "quoteId"), ("TagType", "tagType")],
    )
    def test_is_refused_with_the_name_that_was_meant(
        self, agent: TokenHolder, page_id: str, sent: str, meant: str
    ) -> None:
        body = {"pageId": page_id, "content": "Hello", sent: None}
        for path in ("/api/messages", PATH):
            refused = agent.api.post(path, body)
            assert (refused.status, refused.refusal) == (
                400,
                {"error": "unknown_field", "field": sent, "allowed": [meant]},
            )
            assert refused.json["message"] == f"Did you mean `{meant}`? There is no `{sent}`."
            assert [detail["pointer"] for detail in refused.json["details"]] == [f"/{sent}"]
        assert not Message.objects.exists()

    def test_is_refused_in_an_edit_which_changes_nothing(self, agent: TokenHolder) -> None:
        post = MessageFactory(author=agent.account, content="First")
        for name in ("anchor_text", "Content", "dry_run"):
            refused = agent.api.put(f"/api/messages/{post.pk}", {"content": "Second", name: "x"})
            assert (refused.status, refused.error) == (400, "unknown_field"), name
        assert Api().get(f"/api/messages/{post.pk}").json["content"] == "First"

    @pytest.mark.parametrize("name", ["dryRun", "dry_run", "DRYRUN"])
    def test_a_dry_run_in_the_body_is_refused(self, agent: TokenHolder, page_id: str, name: str) -> None:
        for value in (True, False, None):
            refused = agent.api.post("/api/messages", {"pageId": page_id, "content": "Hello", name: value}, key="k")
            assert (refused.status, refused.refusal) == (400, {"error": "unknown_field", "field": name})
            assert "POST /api/messages/check" in refused.json["message"]
        assert not Message.objects.exists()
        assert agent.api.post("/api/messages", {"pageId": page_id, "content": "Hello"}, key="k").status == 201

    def test_a_name_of_any_length_is_cut_in_the_refusal(self, agent: TokenHolder, page_id: str) -> None:
        refused = agent.api.post("/api/messages", {"pageId": page_id, f"parent{'_' * 100_000}id": 1})
        assert (refused.status, refused.error) == (400, "unknown_field")
        assert len(refused.body) < 1_500

    def test_other_unknown_fields_are_ignored(self, agent: TokenHolder, page_id: str) -> None:
        body = {"pageId": page_id, "content": "Hello", "parent": None, "id": "x", "replyTo": 1, "": 1, "_-": 1}
        assert agent.api.post("/api/messages", body).status == 201


def test_a_query_of_too_many_parameters_is_400_and_writes_nothing(agent: TokenHolder) -> None:
    post = MessageFactory(author=agent.account)
    answer = agent.api.delete(f"/api/messages/{post.pk}?{'a=1&' * 1_001}dryRun=true")
    assert (answer.status, answer.error) == (400, "invalid_input")
    assert Api().get(f"/api/messages/{post.pk}").status == 200
