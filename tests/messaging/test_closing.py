"""A community closes its discussion on a page: by its moderators, or by the rule `closeAfterDays`."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from messaging.communities.bans import OPEN
from messaging.models import Account, ClosedPage, Community, Decision, Message, MovedPage, Page
from messaging.pages import services as pages
from messaging.pages.discussions import FIND, IS_CLOSED, close_discussion
from messaging.pages.moving import move_page
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.openapi import document
from tests.plans import generic_plan, rows_read
from tests.waiting import eventually

pytestmark = pytest.mark.django_db
MODERATED = "/v1/moderation/communities"


@pytest.fixture
def moderator() -> Account:
    return PersonFactory()


@pytest.fixture
def community(moderator: Account) -> Community:
    community: Community = CommunityFactory()
    community.moderators.create(account=moderator)
    return community


@pytest.fixture
def page() -> Page:
    return PageFactory()


@pytest.fixture
def api(moderator: Account) -> Api:
    return Api.as_person(moderator)


def closed(api: Api, community: Community, page: Page, **body: Any) -> Answer:
    return api.post(f"{MODERATED}/{community.pk}/closed", {"pageId": page.pk, **body})


def reopened(api: Api, community: Community, page: Page, **options: Any) -> Answer:
    return api.delete(f"{MODERATED}/{community.pk}/closed/{page.pk}", **options)


def discussion(community: Community, page_id: str) -> Answer:
    return Api().get(f"/v1/communities/{community.pk}/pages/{page_id}")


def write(community: Community | None, page: Page, author: Api | None = None, **body: Any) -> Answer:
    sent = {"pageId": page.pk, "content": "Hello", **body}
    if community is not None:
        sent["communityId"] = str(community.pk)
    return (author or Api.as_person(PersonFactory())).post("/api/messages", sent)


def old_post(community: Community | None, page: Page, *, days: float, **fields: Any) -> Message:
    at = timezone.now() - timedelta(days=days)
    return MessageFactory(community=community, page=page, created_at=at, updated_at=at, **fields)


def decisions(community: Community) -> list[tuple[str, str | None, str]]:
    return list(Decision.objects.filter(community=community).order_by("pk").values_list("act", "page_id", "reason"))


def test_a_closed_discussion_refuses_posts_replies_and_quotes(api: Api, community: Community, page: Page) -> None:
    post = MessageFactory(community=community, page=page)
    answer = closed(api, community, page, reason=" All is said. ")
    at = answer.json["closedAt"]
    expected = {"communityId": str(community.pk), "pageId": page.pk, "closed": True, "closedAt": at, "closesAt": None}
    assert (answer.status, answer.json) == (200, expected)
    assert discussion(community, page.pk).json == expected
    writers = (Api.as_person(PersonFactory()), agent_with_token().api, api, Api.as_person(SuperAdminFactory()))
    for author in writers:
        for body in ({}, {"quoteId": str(post.pk)}, {"parentId": str(post.pk)}):
            refused = write(community, page, author, **body)
            assert (refused.status, refused.error) == (403, "discussion_closed"), body
    # The reply names no community: it has that of its parent.
    assert write(None, page, parentId=str(post.pk)).error == "discussion_closed"
    assert decisions(community) == [("closed", page.pk, "All is said.")]
    assert Message.objects.count() == 1


def test_a_dry_run_says_that_a_discussion_is_closed(api: Api, community: Community, page: Page) -> None:
    closed(api, community, page)
    body = {"pageId": page.pk, "content": "Hello", "communityId": str(community.pk)}
    answer = Api.as_person(PersonFactory()).post("/api/messages?dryRun=true", body)
    assert (answer.status, answer.error) == (403, "discussion_closed")


def test_other_pages_and_communities_go_on(api: Api, community: Community, page: Page) -> None:
    closed(api, community, page)
    other = CommunityFactory()
    assert write(community, PageFactory()).status == 201
    assert write(other, page).status == 201
    assert write(None, page).status == 201
    for answer in (discussion(other, page.pk), discussion(community, PageFactory().pk)):
        assert (answer.json["closed"], answer.json["closedAt"]) == (False, None)


def test_reading_edits_deletions_reactions_and_approvals_go_on(api: Api, community: Community, page: Page) -> None:
    post, gone = (MessageFactory(community=community, page=page) for _ in range(2))
    pending = MessageFactory(community=community, page=page, status="pending")
    closed(api, community, page)
    author = Api.as_person(post.author)
    assert len(Api().get("/api/messages", pageId=page.pk).json["messages"]) == 2
    assert author.put(f"/api/messages/{post.pk}", {"content": "Edited"}).json["content"] == "Edited"
    assert Api.as_person(gone.author).delete(f"/api/messages/{gone.pk}").status == 200
    assert author.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"}).status == 200
    assert api.post(f"/v1/moderation/messages/{pending.pk}/approve", {}).json["status"] == "published"


def test_closing_and_reopening_twice_changes_nothing(api: Api, community: Community, page: Page) -> None:
    first = closed(api, community, page)
    assert closed(api, community, page, reason="again").json == first.json
    assert reopened(api, community, page).json == first.json | {"closed": False, "closedAt": None}
    assert write(community, page).status == 201
    again = reopened(api, community, page)
    assert (again.status, again.error) == (404, "closing_not_found")
    assert [act for act, _page, _reason in decisions(community)] == ["closed", "reopened"]


def test_a_key_closes_and_reopens_once(api: Api, community: Community, page: Page) -> None:
    closed(api, community, page)
    first = reopened(api, community, page, key="one")
    closed(api, community, page)
    assert reopened(api, community, page, key="one").json == first.json
    assert ClosedPage.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "invalid_input"),
        ({"pageId": 7}, 400, "invalid_input"),
        ({"pageId": "https://example.com/a"}, 400, "unknown_page"),
        ({"pageId": "p1_" + "a" * 32}, 400, "unknown_page"),
        ({"reason": "x" * 501}, 400, "invalid_input"),
        ({"reason": 1}, 400, "invalid_input"),
    ],
)
def test_an_invalid_closing_is_refused(
    api: Api, community: Community, page: Page, body: Any, status: int, code: str
) -> None:
    sent = body if "reason" not in body else {"pageId": page.pk} | body
    answer = api.post(f"{MODERATED}/{community.pk}/closed", sent)
    assert (answer.status, answer.error) == (status, code), answer.json
    assert not ClosedPage.objects.exists()


def test_only_moderators_close_and_reopen(community: Community, page: Page) -> None:
    ClosedPage.objects.create(community=community, page=page)
    other: Community = CommunityFactory()
    stranger = PersonFactory()
    other.moderators.create(account=stranger)
    for answer in (
        closed(Api.as_person(stranger), community, page),
        reopened(Api.as_person(stranger), community, page),
    ):
        assert (answer.status, answer.error) == (403, "moderator_required")
    boss = Api.as_person(SuperAdminFactory())
    assert boss.post(f"{MODERATED}/{uuid4()}/closed", {"pageId": page.pk}).error == "community_not_found"
    for no_page in ("no-page", "%00", "x" * 5_000):
        assert boss.delete(f"{MODERATED}/{community.pk}/closed/{no_page}").error == "closing_not_found"
    assert reopened(boss, community, page).json["closed"] is False


def test_a_discussion_of_no_community_or_page_is_refused(community: Community, page: Page) -> None:
    for path in (f"/v1/communities/{uuid4()}/pages/{page.pk}", f"/v1/communities/x/pages/{page.pk}"):
        assert Api().get(path).error == "community_not_found"
    assert (discussion(community, "no-page").status, discussion(community, "no-page").error) == (404, "not_found")
    assert discussion(community, "p1_" + "a" * 32).json["closed"] is False


@pytest.mark.parametrize("page_id", ["x", "p1_%00", "%00", "p1_" + "a" * 200])
def test_no_discussion_of_what_is_no_page_is_reopened(api: Api, community: Community, page: Page, page_id: str) -> None:
    closed(api, community, page)
    answer = api.delete(f"{MODERATED}/{community.pk}/closed/{page_id}")
    assert (answer.status, answer.error) == (404, "closing_not_found")
    assert Api().get(f"/v1/communities/{community.pk}/pages/{page_id}").status == 404
    assert discussion(community, page.pk).json["closed"]


def test_the_rule_closes_so_many_days_after_the_first_post(api: Api, community: Community, page: Page) -> None:
    rule = api.put(f"{MODERATED}/{community.pk}", {"rules": {"closeAfterDays": 7}})
    assert rule.json["rules"]["closeAfterDays"] == 7
    assert Api().get(f"/v1/communities/{community.pk}").json["rules"]["closeAfterDays"] == 7
    assert discussion(community, page.pk).json["closesAt"] is None
    young, old = old_post(community, page, days=6.9), old_post(community, other := PageFactory(), days=7.1)
    assert write(community, page).status == 201
    assert write(community, other).error == "discussion_closed"
    for post, place, is_closed in ((young, page, False), (old, other, True)):
        answer = discussion(community, place.pk).json
        assert datetime.fromisoformat(answer["closesAt"]) == post.created_at + timedelta(days=7)
        assert (answer["closed"], answer["closedAt"]) == (is_closed, None)
    # The rule of another community is not asked.
    assert write(CommunityFactory(), other).status == 201
    assert reopened(api, community, other).error == "closing_not_found"
    api.put(f"{MODERATED}/{community.pk}", {"rules": {"closeAfterDays": 0}})
    assert write(community, other).status == 201


def test_the_rule_counts_listed_posts_of_the_community_only(community: Community, page: Page) -> None:
    Community.objects.update(close_after_days=7)
    old_post(None, page, days=30)
    old_post(CommunityFactory(), page, days=30)
    for status in ("pending", "hidden", "deleted"):
        old_post(community, page, days=30, status=status)
    MessageFactory(community=community, parent=old_post(None, page, days=30), created_at=timezone.now() - timedelta(30))
    assert discussion(community, page.pk).json["closesAt"] is None
    assert write(community, page).status == 201
    old_post(community, page, days=30)
    assert write(community, page).error == "discussion_closed"


@pytest.mark.parametrize("days", [-1, 3651, "7", 1.5, True])
def test_an_invalid_rule_is_refused(api: Api, community: Community, days: Any) -> None:
    assert api.put(f"{MODERATED}/{community.pk}", {"rules": {"closeAfterDays": days}}).status == 400
    community.refresh_from_db()
    assert community.close_after_days == 0


def test_a_page_that_is_closed_is_not_pruned(api: Api, community: Community, page: Page) -> None:
    closed(api, community, page)
    unused = PageFactory()
    Page.objects.update(created_at=timezone.now() - timedelta(days=99))
    before = timezone.now() - timedelta(days=30)
    assert pages.count_unused_pages(before=before) == pages.delete_unused_pages(before=before, batch=10) == 1
    assert list(Page.objects.all()) == [page]
    assert not Page.objects.filter(pk=unused.pk).exists()


def test_a_moved_page_stays_closed(api: Api, community: Community, page: Page) -> None:
    old = Page.objects.create(pk="p1_" + "b" * 32, normalized_url=page.normalized_url)
    MessageFactory(page=old, community=community)
    closed(api, community, old, reason="Over")
    other = CommunityFactory()
    for place in (old, page):
        ClosedPage.objects.create(community=other, page=place)
    move_page(old)
    assert set(ClosedPage.objects.values_list("community", "page")) == {(community.pk, page.pk), (other.pk, page.pk)}
    for page_id in (old.pk, page.pk):
        assert (discussion(community, page_id).json["closed"], discussion(community, page_id).json["pageId"]) == (
            True,
            page.pk,
        )
    assert write(community, old).error == write(community, page).error == "discussion_closed"
    assert decisions(community) == [("closed", page.pk, "Over")]
    assert MovedPage.objects.get().page_id == page.pk
    # By the earlier id too.
    assert reopened(api, community, old).json["pageId"] == page.pk
    assert closed(api, community, old).json["pageId"] == page.pk


def test_a_post_needs_no_further_statement(community: Community, page: Page, django_assert_num_queries: Any) -> None:
    Community.objects.update(close_after_days=7)
    author = Api.as_person(PersonFactory())
    write(community, page, author)
    with django_assert_num_queries(6) as found:
        assert write(community, page, author).status == 201
    assert sum("messaging_closedpage" in query["sql"] for query in found.captured_queries) == 1


@pytest.mark.django_db(transaction=True)
def test_a_closing_waits_for_the_posts_that_have_begun(community: Community, page: Page, moderator: Account) -> None:
    """So no post is committed after it, although another was read as allowed before."""
    document()
    order: list[str] = []
    read, go_on = Event(), Event()

    def write_slowly() -> None:
        from messaging.posts import services as messages

        ask = messages.open_discussion

        def pausing(**arguments: Any) -> Any:
            found = ask(**arguments)
            read.set()
            go_on.wait(20)
            return found

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(messages, "open_discussion", pausing)
            order.append(f"post {write(community, page, author).status}")
        connection.close()

    def close() -> None:
        close_discussion(community_id=community.pk, page_id=page.pk, by=moderator)
        order.append("closed")
        connection.close()

    author = Api.as_person(PersonFactory())
    threads = [Thread(target=write_slowly), Thread(target=close)]
    threads[0].start()
    assert read.wait(20)
    threads[1].start()
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"

    def is_waiting() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            return bool(cursor.fetchone()[0])

    assert eventually(is_waiting)
    assert order == []
    go_on.set()
    for thread in threads:
        thread.join()
    assert sorted(order) == ["closed", "post 201"]
    assert Message.objects.get().created_at < ClosedPage.objects.get().created_at
    assert write(community, page).error == "discussion_closed"


@pytest.mark.django_db(transaction=True)
def test_of_many_posts_beside_a_closing_none_is_written_later(
    community: Community, page: Page, moderator: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    document()
    monkeypatch.setattr("kernel.api.throttling.hit", lambda *_arguments: None)
    authors = [Api.as_person(PersonFactory()) for _ in range(6)]
    for _ in range(3):
        place = PageFactory()

        def act(number: int, place: Page = place) -> Any:
            if number == 0:
                close_discussion(community_id=community.pk, page_id=place.pk, by=moderator)
                with transaction.atomic():
                    return Message.objects.filter(page=place).count()
            return write(community, place, authors[number - 1]).status

        seen, *statuses = race(7, act)
        assert set(statuses) <= {201, 403}
        assert seen == statuses.count(201) == Message.objects.filter(page=place).count()


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_closings_one_is_logged(
    api: Api, community: Community, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    document()
    monkeypatch.setattr("kernel.api.throttling.hit", lambda *_arguments: None)
    assert race(4, lambda _number: closed(api, community, page).status) == [200] * 4
    assert [act for act, *_ in decisions(community)] == ["closed"]


def test_the_first_post_is_found_by_an_index_on_a_page_with_posts_of_others(community: Community, page: Page) -> None:
    Community.objects.update(close_after_days=7)
    other = CommunityFactory()
    author = PersonFactory()
    at = timezone.now() - timedelta(days=30)
    fields = {"author": author, "author_kind": "human", "page": page, "created_at": at, "content": "x"}
    strangers = [Message(community=other if number % 2 else None, **fields) for number in range(3_000)]
    Message.objects.bulk_create(strangers)
    MessageFactory(community=community, page=page)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE messaging_message")
    values = {"community": community.pk, "page": page.pk}
    for statement in (FIND, OPEN.format(more=IS_CLOSED, columns="id")):
        plan = generic_plan(statement, values)
        assert rows_read(plan, "messaging_message") <= 1
