"""The operator releases or rejects what an agent writes: setAgentReview, listAgentDrafts, releaseDraft, rejectDraft."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from agents.services import freeze_agent, narrow_agent
from kernel.changes.models import Change
from messaging.communities.bans import ban_account
from messaging.models import Message, PreModeration
from messaging.models.moderation import Moderator
from messaging.moderation.services import hide_batch, restore_batch
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]
MESSAGES = "/api/messages"


@pytest.fixture
def holder() -> TokenHolder:
    """An agent whose operator reviews it."""
    holder = agent_with_token()
    answer = holder.operator.put(f"/v1/me/agents/{holder.agent.pk}", {"review": "all"})
    assert (answer.status, answer.json["review"], answer.json["account"]["id"]) == (200, "all", str(holder.agent.pk))
    return holder


def write(holder: TokenHolder, **body: Any) -> dict[str, Any]:
    body = {"pageId": PageFactory().pk, "content": "A first text."} | body
    answer = holder.api.post(MESSAGES, body)
    assert answer.status == 201, answer.json
    return dict(answer.json)


def decide(holder: TokenHolder, decision: str, post: dict[str, Any], by: Api | None = None, **body: Any) -> Any:
    path = f"/v1/me/agents/{holder.agent.pk}/drafts/{post['id']}/{decision}"
    return (by or holder.operator).post(path, body)


def drafts(holder: TokenHolder) -> list[Any]:
    return list(holder.operator.get(f"/v1/me/agents/{holder.agent.pk}/drafts").json["messages"])


def events(account_id: Any, kind: str) -> list[dict[str, Any]]:
    rows = Change.objects.filter(account_id=account_id, type=kind).order_by("xid", "id")
    return list(rows.values("message_id", "actor_id", "data"))


def public_types() -> list[str]:
    return list(Change.objects.filter(account_id=None).order_by("xid", "id").values_list("type", flat=True))


def test_posts_of_a_reviewed_agent_wait_and_spend_limits_and_a_release_publishes_them(holder: TokenHolder) -> None:
    parent = MessageFactory()
    checked = holder.api.post(f"{MESSAGES}/check", {"pageId": parent.page_id, "content": "A text."}).json
    assert (checked["wouldBe"], checked["pendingFor"]) == ("pending", "operator")
    written = holder.api.post(MESSAGES, {"pageId": parent.page_id, "parentId": str(parent.pk), "content": "Yes."})
    post = written.json
    assert (post["status"], post["pendingFor"]) == ("pending", "operator")
    assert '"reply";r=29' in written.headers["RateLimit"]
    assert Api().get(f"{MESSAGES}/{post['id']}").status == 404
    assert public_types() == []
    for account_id in (holder.request.requester_id, holder.agent.pk):
        (event,) = events(account_id, "approval_needed")
        assert (str(event["message_id"]), event["actor_id"]) == (post["id"], holder.agent.pk)
    (own,) = holder.api.get("/v1/me/messages", status="pending").json["messages"]
    assert own["pendingFor"] == "operator"
    assert [each["id"] for each in drafts(holder)] == [post["id"]]
    released = decide(holder, "release", post, reason="Well said.")
    assert (released.status, released.json) == (200, {"id": post["id"], "status": "published"})
    assert Api().get(f"{MESSAGES}/{post['id']}").status == 200
    assert Message.objects.get(pk=parent.pk).reply_count == 1
    (event,) = events(holder.agent.pk, "moderated")
    assert event["actor_id"] == holder.request.requester_id
    assert event["data"] == {"status": "published", "reason": "Well said."}
    assert [row["message_id"] for row in events(parent.author_id, "reply")] == [Message.objects.get(pk=post["id"]).pk]
    assert (public_types(), drafts(holder)) == (["message.created"], [])
    for decision in ("release", "reject"):
        again = decide(holder, decision, post)
        assert (again.status, again.error, again.json["status"]) == (409, "draft_decided", "published")


def test_a_rejected_post_is_hidden_with_the_reason_and_moderators_do_not_pass_over_it(holder: TokenHolder) -> None:
    community = CommunityFactory(pre_moderation=PreModeration.AGENTS)
    moderator = PersonFactory()
    Moderator.objects.create(community=community, account=moderator)
    by_moderator = Api.as_person(moderator)
    post = write(holder, communityId=str(community.pk))
    queue = "/v1/moderation/queue"
    for caller in (by_moderator, Api.as_person(SuperAdminFactory())):
        assert caller.get(queue, communityId=str(community.pk)).json["messages"] == []
        for decision in ("approve", "hide", "restore"):
            refused = caller.post(f"/v1/moderation/messages/{post['id']}/{decision}", {"reason": "No."})
            assert (refused.status, refused.error) == (409, "waits_for_operator"), decision
    assert not Change.objects.filter(type="post_pending").exists()
    assert decide(holder, "reject", post, reason="Name the source.").json["status"] == "hidden"
    (own,) = holder.api.get("/v1/me/messages").json["messages"]
    assert (own["status"], own["reason"]) == ("hidden", "Name the source.")
    refused = by_moderator.post(f"/v1/moderation/messages/{post['id']}/restore", {})
    assert (refused.status, refused.error) == (409, "waits_for_operator")
    assert decide(holder, "release", post).error == "draft_decided"
    assert LogEntry.objects.filter(object_id=post["id"]).count() == 1


def test_a_released_post_waits_where_the_community_reviews(holder: TokenHolder) -> None:
    community = CommunityFactory(pre_moderation=PreModeration.AGENTS)
    moderator = PersonFactory()
    Moderator.objects.create(community=community, account=moderator)
    post = write(holder, communityId=str(community.pk))
    assert decide(holder, "release", post).json["status"] == "pending"
    assert [event["data"]["count"] for event in events(moderator.pk, "post_pending")] == [1]
    (own,) = holder.api.get("/v1/me/messages").json["messages"]
    assert own["pendingFor"] == "moderators"
    assert decide(holder, "reject", post).error == "draft_decided"
    edited = holder.api.put(f"{MESSAGES}/{post['id']}", {"content": "Another text."}).json
    assert edited["pendingFor"] == "operator"
    path = f"/v1/moderation/messages/{post['id']}/approve"
    assert Api.as_person(moderator).post(path, {}).error == "waits_for_operator"
    assert decide(holder, "release", post).json["status"] == "pending"
    assert Api.as_person(moderator).post(path, {}).json["status"] == "published"


def test_an_edit_waits_and_names_the_text_that_was_read(holder: TokenHolder) -> None:
    post = write(holder)
    seen = drafts(holder)[0]["updatedAt"]
    holder.api.put(f"{MESSAGES}/{post['id']}", {"content": "A second text."})
    assert len(events(holder.request.requester_id, "approval_needed")) == 2
    stale = decide(holder, "release", post, seenUpdatedAt=seen)
    assert (stale.status, stale.error) == (409, "message_edited")
    decide(holder, "release", post, seenUpdatedAt=drafts(holder)[0]["updatedAt"])
    edited = holder.api.put(f"{MESSAGES}/{post['id']}", {"content": "A third text."}).json
    assert (edited["status"], edited["pendingFor"]) == ("pending", "operator")
    assert Api().get(f"{MESSAGES}/{post['id']}").status == 404
    assert decide(holder, "release", post).json["status"] == "published"
    assert public_types() == ["message.created", "message.hidden", "message.restored"]
    # Without a review, edits are public, and what waits goes on waiting.
    waiting = write(holder)
    holder.operator.put(f"/v1/me/agents/{holder.agent.pk}", {"review": "none"})
    assert holder.api.put(f"{MESSAGES}/{post['id']}", {"content": "A fourth text."}).json["status"] == "published"
    changed = holder.api.put(f"{MESSAGES}/{waiting['id']}", {"content": "Changed."}).json
    assert (changed["status"], changed["pendingFor"]) == ("pending", "operator")
    assert write(holder)["status"] == "published"


def test_a_release_follows_the_rights_and_rules_of_now(holder: TokenHolder) -> None:
    community, moderator = CommunityFactory(), PersonFactory()
    Moderator.objects.create(community=community, account=moderator)
    post = write(holder, communityId=str(community.pk))
    agent, admin = Agent.objects.get(pk=holder.agent.pk), SuperAdminFactory()
    ban_account(community_id=community.pk, account_id=agent.pk, by=moderator)
    assert decide(holder, "release", post).error == "banned_from_community"
    other = CommunityFactory(read_only=True)
    closed = MessageFactory(
        author=holder.account, author_kind="agent", community=other, status="pending", operator_review="waiting"
    )
    assert decide(holder, "release", {"id": closed.pk}).error == "community_forbids"
    narrow_agent(agent=agent, by=admin, scopes=["react"])
    assert decide(holder, "release", post).error == "agent_scope_missing:post"
    freeze_agent(agent=agent, by=admin)
    assert decide(holder, "release", post).error == "agent_frozen"
    assert decide(holder, "reject", post).status == 200


def test_only_the_operator_of_the_agent_decides_on_its_own_drafts(holder: TokenHolder) -> None:
    post, other = write(holder), agent_with_token()
    public = MessageFactory(author=holder.account, author_kind="agent")
    path = f"/v1/me/agents/{holder.agent.pk}"
    for caller in (other.operator, Api.as_person(SuperAdminFactory())):
        for answer in (
            caller.put(path, {"review": "none"}),
            caller.get(f"{path}/drafts"),
            decide(holder, "release", post, by=caller),
        ):
            assert (answer.status, answer.error) == (404, "agent_not_found")
    assert holder.api.put(path, {"review": "none"}).error == "agent_route_not_allowed"
    foreign = decide(other, "release", post)
    for answer in (foreign, decide(holder, "release", {"id": public.pk}), decide(holder, "reject", {"id": uuid4()})):
        assert (answer.status, answer.error) == (404, "draft_not_found")
    for review in ("some", None, 1):
        assert holder.operator.put(path, {"review": review}).status == 400
    assert decide(holder, "release", post, reason="x" * 501).status == 400
    assert Message.objects.get(pk=post["id"]).operator_review == "waiting"
    assert holder.api.delete(f"{MESSAGES}/{post['id']}").status == 200
    assert decide(holder, "release", post).error == "draft_not_found"


def test_hiding_all_posts_of_an_agent_and_restoring_them_releases_nothing(holder: TokenHolder) -> None:
    post, admin = Message.objects.get(pk=write(holder)["id"]), SuperAdminFactory()
    hidden = hide_batch({post.pk: None}, admin, "")
    assert decide(holder, "release", {"id": post.pk}).error == "draft_decided"
    restore_batch(hidden, admin, "")
    assert [each["id"] for each in drafts(holder)] == [str(post.pk)]


def test_a_list_of_drafts_needs_a_constant_number_of_statements(holder: TokenHolder) -> None:
    counts = []
    for _ in range(2):
        write(holder)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert drafts(holder)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5


@pytest.mark.django_db(transaction=True)
def test_of_a_release_a_rejection_and_an_edit_at_once_one_decision_holds(holder: TokenHolder) -> None:
    post = write(holder)
    answers = race(2, lambda number: decide(holder, ("release", "reject")[number], post))
    assert sorted(answer.status for answer in answers) == [200, 409]
    assert len(events(holder.agent.pk, "moderated")) == 1
    draft = write(holder)
    released, edited = race(
        2,
        lambda number: (
            decide(holder, "release", draft)
            if number
            else holder.api.put(f"{MESSAGES}/{draft['id']}", {"content": "At once."})
        ),
    )
    stored = Message.objects.get(pk=draft["id"])
    # The edit came after the release, and waits again; or before it, and is what was released.
    assert (released.status, edited.status) == (200, 200)
    assert stored.content == "At once."
    assert (stored.status, stored.operator_review) in {("pending", "waiting"), ("published", "released")}
