"""Moderators are told in their inboxes of reported posts, and of posts that wait for approval."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from messaging.inbox.events import TOLD_MINUTES
from messaging.models import Account, Community, Moderator
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.changes.inbox import events, types
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.openapi import document

pytestmark = pytest.mark.django_db


@pytest.fixture
def moderator() -> Account:
    return PersonFactory()


@pytest.fixture
def community(moderator: Account) -> Community:
    community: Community = CommunityFactory(pre_moderation="everyone")
    community.moderators.create(account=moderator)
    return community


def report(post: Any, by: Account | None = None) -> None:
    reporter = Api.as_person(by or PersonFactory())
    assert reporter.post(f"/api/messages/{post.pk}/report", {"reason": "spam"}).status == 200


def write(community: Community, author: Account | None = None) -> Any:
    body = {"pageId": PageFactory().pk, "communityId": str(community.pk), "content": "Hello"}
    answer = Api.as_person(author or PersonFactory()).post("/api/messages", body)
    assert answer.status == 201
    return answer.json


def told(account: Account) -> list[tuple[str, int]]:
    return [(event["type"], event["data"]["count"]) for event in events(Api.as_person(account))]


def later(minutes: float = TOLD_MINUTES) -> None:
    """Let so much time pass for the marks of moderators."""
    for row in Moderator.objects.all():
        for column in ("told_of_pending_at", "told_of_reports_at"):
            if (at := getattr(row, column)) is not None:
                setattr(row, column, at - timedelta(minutes=minutes))
        row.save()


def test_a_moderator_is_told_of_a_report(moderator: Account, community: Community) -> None:
    post = MessageFactory(community=community)
    report(post)
    (event,) = events(Api.as_person(moderator))
    assert (event["type"], event["actor"], event["aboutId"]) == ("post_reported", None, None)
    assert (event["pageId"], event["messageId"], event["message"]["id"]) == (post.page_id, str(post.pk), str(post.pk))
    assert event["data"] == {"communityId": str(community.pk), "count": 1}
    assert types(Api.as_person(moderator), types="post_reported") == ["post_reported"]
    assert types(Api.as_person(moderator), types="post_pending") == []


def test_a_moderator_is_told_of_a_pending_post(moderator: Account, community: Community) -> None:
    MessageFactory(community=community, status="pending")
    post = write(community)
    (event,) = events(Api.as_person(moderator))
    assert (event["type"], event["messageId"], event["message"]) == ("post_pending", post["id"], None)
    assert event["data"] == {"communityId": str(community.pk), "count": 2}


def test_at_most_one_of_a_kind_and_community_in_ten_minutes(moderator: Account, community: Community) -> None:
    posts = [MessageFactory(community=community) for _ in range(4)]
    report(posts[0])
    report(posts[0])
    report(posts[1])
    write(community)
    write(community)
    assert told(moderator) == [("post_reported", 1), ("post_pending", 1)]
    later(TOLD_MINUTES - 1)
    report(posts[2])
    assert len(told(moderator)) == 2
    later(1)
    report(posts[3])
    write(community)
    assert told(moderator)[2:] == [("post_reported", 4), ("post_pending", 3)]


def test_communities_are_told_apart(moderator: Account, community: Community) -> None:
    other = CommunityFactory()
    other.moderators.create(account=moderator)
    stranger = PersonFactory()
    CommunityFactory().moderators.create(account=stranger)
    for each in (community, other):
        report(MessageFactory(community=each))
    report(MessageFactory())
    found = [event["data"]["communityId"] for event in events(Api.as_person(moderator))]
    assert found == [str(community.pk), str(other.pk)]
    assert told(stranger) == []


def test_nobody_is_told_of_what_they_did_themselves(moderator: Account, community: Community) -> None:
    second = PersonFactory()
    community.moderators.create(account=second)
    report(MessageFactory(community=community), by=moderator)
    write(community, author=moderator)
    assert told(moderator) == []
    assert told(second) == [("post_reported", 1), ("post_pending", 1)]
    # They are told of the next one: their own doing is no event for them.
    report(MessageFactory(community=community))
    assert told(moderator) == [("post_reported", 2)]
    assert len(told(second)) == 2


def test_only_moderators_by_name_who_can_act_are_told(moderator: Account, community: Community) -> None:
    boss, former = SuperAdminFactory(), PersonFactory()
    row = community.moderators.create(account=former)
    suspended = PersonFactory()
    community.moderators.create(account=suspended)
    Account.objects.filter(pk=suspended.pk).update(is_active=False)
    row.delete()
    report(MessageFactory(community=community))
    Account.objects.filter(pk=suspended.pk).update(is_active=True)
    assert [told(account) for account in (boss, former, suspended)] == [[], [], []]
    community.moderators.create(account=boss)
    report(MessageFactory(community=community))
    assert told(boss) == [("post_reported", 2)]
    Account.objects.filter(pk=moderator.pk).update(erasure_due_at=timezone.now())
    later()
    report(MessageFactory(community=community))
    assert len(told(boss)) == 2
    assert Moderator.objects.get(account=moderator).told_of_reports_at < Moderator.objects.get(
        account=boss
    ).told_of_reports_at - timedelta(minutes=5)


def test_an_edit_that_waits_and_a_post_put_back_to_review_are_told(moderator: Account) -> None:
    community: Community = CommunityFactory(reports_to_hide=1)
    community.moderators.create(account=moderator)
    post, reported = (MessageFactory(community=community) for _ in range(2))
    report(reported)
    Community.objects.update(pre_moderation="everyone")
    edited = Api.as_person(post.author).put(f"/api/messages/{post.pk}", {"content": "Edited"})
    assert edited.json["status"] == "pending"
    assert told(moderator) == [("post_reported", 1), ("post_pending", 2)]


def test_an_agents_pending_post_tells_and_a_dry_run_does_not(moderator: Account, community: Community) -> None:
    agent = agent_with_token()
    body = {"pageId": PageFactory().pk, "communityId": str(community.pk), "content": "Hello"}
    assert agent.api.post("/api/messages?dryRun=true", body).json["wouldBe"] == "pending"
    assert told(moderator) == []
    assert agent.api.post("/api/messages", body, key="one").status == 201
    later()
    assert agent.api.post("/api/messages", body, key="one").status == 201
    assert told(moderator) == [("post_pending", 1)]
    assert types(agent.api) == ["request_decided"]


def test_decided_reports_and_other_states_are_not_counted(moderator: Account, community: Community) -> None:
    api = Api.as_person(moderator)
    hidden, dismissed, twice = (MessageFactory(community=community) for _ in range(3))
    for post in (hidden, dismissed, twice, twice):
        report(post)
    assert api.post(f"/v1/moderation/messages/{hidden.pk}/hide", {}).status == 200
    assert api.post(f"/v1/moderation/messages/{dismissed.pk}/approve", {}).status == 200
    later()
    report(MessageFactory(community=community))
    assert told(moderator)[-1] == ("post_reported", 2)


def test_webhooks_of_agents_do_not_offer_the_events(settings: Any) -> None:
    settings.WEBHOOKS = True
    agent = agent_with_token()
    body = {"url": "https://example.com/hook", "agentId": str(agent.account.pk), "types": ["post_reported"]}
    answer = agent.operator.post("/v1/webhooks", body)
    assert (answer.status, "post_reported" in answer.json["allowed"]) == (400, False)


def test_a_write_tells_fifty_moderators_in_one_statement(
    moderator: Account, community: Community, django_assert_num_queries: Any
) -> None:
    author = PersonFactory()
    write(community, author)
    page = PageFactory()
    body = {"pageId": page.pk, "communityId": str(community.pk), "content": "Hello"}
    with django_assert_num_queries(7):
        Api.as_person(author).post("/api/messages", body)
    people = [PersonFactory() for _ in range(49)]
    Moderator.objects.bulk_create(Moderator(community=community, account=person) for person in people)
    with django_assert_num_queries(7):
        Api.as_person(author).post("/api/messages", body)
    assert [told(person) for person in people] == [[("post_pending", 3)]] * 49
    assert len(told(moderator)) == 1


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_reports_one_is_told(
    moderator: Account, community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    document()
    monkeypatch.setattr("kernel.api.throttling.hit", lambda *_arguments: None)
    second = PersonFactory()
    community.moderators.create(account=second)
    for number in range(1, 4):
        posts, reporters = [MessageFactory(community=community) for _ in range(5)], [PersonFactory() for _ in range(5)]

        def act(number: int, posts: Any = posts, reporters: Any = reporters) -> None:
            report(posts[number], by=reporters[number])

        race(5, act)
        assert [len(told(account)) for account in (moderator, second)] == [number, number]
        later()


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_pending_posts_one_is_told(
    moderator: Account, community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    document()
    monkeypatch.setattr("kernel.api.throttling.hit", lambda *_arguments: None)
    authors = [PersonFactory() for _ in range(5)]
    race(5, lambda number: write(community, authors[number]))
    assert len(told(moderator)) == 1
