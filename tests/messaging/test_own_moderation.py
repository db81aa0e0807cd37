"""getOwnModeration: GET /v1/me/moderation, and the queue of one page, which widgets show to moderators."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from embeds.models import Embed
from embeds.services import update_embed
from messaging.communities.services import create_community
from messaging.models import Account, Community, MessageStatus, Report
from messaging.moderation import queries as moderation
from tests.api import Answer, Api
from tests.embeds.making import UNKNOWN_ID, an_embed
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.plans import generic_plan, rows_read

pytestmark = pytest.mark.django_db
PATH, QUEUE = "/v1/me/moderation", "/v1/moderation/queue"


@pytest.fixture
def owner() -> Account:
    return PersonFactory()


@pytest.fixture
def community(owner: Account) -> Community:
    return create_community(owner=owner, name="Harbour")


@pytest.fixture
def embed(owner: Account, community: Community) -> Embed:
    return an_embed(owner, community_id=community.pk)


def own(account: Account, embed: Embed) -> Answer:
    return Api.as_person(account).get(PATH, embedId=embed.pk)


def wait(community: Community, **fields: str) -> None:
    """Two pending posts, one of them reported, and a published one that two readers have reported."""
    pending = [MessageFactory(community=community, status=MessageStatus.PENDING, **fields) for _ in range(2)]
    published = MessageFactory(community=community, **fields)
    for post in (pending[0], published, published):
        Report.objects.create(message=post, reporter=PersonFactory(), reason="spam")


def test_a_moderator_learns_how_much_waits_and_where_to_decide(
    owner: Account, community: Community, embed: Embed
) -> None:
    wait(community)
    wait(CommunityFactory())
    url = f"http://127.0.0.1:8000/account/communities/{community.slug}/moderation/"
    expected = {"communityId": str(community.pk), "moderates": True, "pending": 2, "reported": 2, "queueUrl": url}
    for moderator in (owner, SuperAdminFactory()):
        answer = own(moderator, embed)
        assert answer.status == 200
        assert answer.headers["Cache-Control"] == "private, no-store"
        assert answer.json | {"queueUrl": url} == expected
        assert answer.json["queueUrl"].endswith(f"/account/communities/{community.slug}/moderation/")


def test_others_learn_nothing(community: Community, embed: Embed) -> None:
    wait(community)
    elsewhere = PersonFactory()
    create_community(owner=elsewhere, name="Elsewhere")
    for account in (elsewhere, PersonFactory()):
        expected = {"communityId": str(community.pk), "moderates": False, "pending": 0, "reported": 0, "queueUrl": None}
        assert own(account, embed).json == expected


def test_an_embed_that_is_missing_or_paused_is_refused(owner: Account, embed: Embed) -> None:
    api = Api.as_person(owner)
    assert api.get(PATH).error == "invalid_input"
    assert api.get(PATH, embedId="x").error == "invalid_input"
    assert api.get(PATH, embedId=UNKNOWN_ID).error == "embed_not_found"
    assert Api().get(PATH, embedId=embed.pk).error == "not_authenticated"
    update_embed(embed_id=embed.pk, owner=owner, status="paused")
    assert own(owner, embed).error == "embed_not_active"


def test_numbers_end_at_a_hundred_in_a_fixed_number_of_statements(
    owner: Account, community: Community, embed: Embed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(101):
        post = MessageFactory(community=community, status=MessageStatus.PENDING, author=owner)
        Report.objects.create(message=post, reporter=owner, reason="spam")
    with CaptureQueriesContext(connection) as queries:
        answer = own(owner, embed).json
    assert (answer["pending"], answer["reported"]) == (100, 100)
    assert len(queries) <= 6


def test_the_queue_of_a_page_has_its_posts_alone(owner: Account, community: Community) -> None:
    page, other = PageFactory(), PageFactory()
    for place in (page, other):
        wait(community, page=place)
    wait(CommunityFactory(), page=page)
    api = Api.as_person(owner)
    for state in ("pending", "reported"):
        found = api.get(QUEUE, communityId=community.pk, pageId=page.pk, state=state).json["messages"]
        assert [message["pageId"] for message in found] == [page.pk, page.pk]
        assert {message["communityId"] for message in found} == {str(community.pk)}
        assert len(api.get(QUEUE, communityId=community.pk, state=state).json["messages"]) == 4
    assert api.get(QUEUE, communityId=community.pk, pageId="https://site.example/").refusal["field"] == "pageId"
    assert api.get(QUEUE, pageId=page.pk).json["messages"] != []
    first = api.get(QUEUE, communityId=community.pk, pageId=page.pk, limit=1).json
    cursor = first["nextCursor"]
    second = api.get(QUEUE, communityId=community.pk, pageId=page.pk, limit=1, cursor=cursor).json
    assert second["messages"][0]["id"] != first["messages"][0]["id"]
    assert api.get(QUEUE, communityId=community.pk, pageId=other.pk, limit=1, cursor=cursor).error == "invalid_cursor"
    assert Api.as_person(PersonFactory()).get(QUEUE, communityId=community.pk, pageId=page.pk).error == (
        "moderator_required"
    )


def test_the_queue_of_a_page_reads_what_waits_there(
    owner: Account, community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PageFactory()
    wait(community, page=page)
    for _ in range(300):
        MessageFactory(community=community, status=MessageStatus.PENDING, author=owner)
        MessageFactory(page=page, author=owner)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE messaging_message, messaging_report")
    plans, fetch = [], moderation.fetch

    def fetch_and_explain(statement: str, values: Any, **options: Any) -> Any:
        plans.append(generic_plan(statement, values))
        return fetch(statement, values, **options)

    monkeypatch.setattr(moderation, "fetch", fetch_and_explain)
    for state in ("pending", "reported"):
        answer = Api.as_person(owner).get(QUEUE, communityId=community.pk, pageId=page.pk, state=state)
        assert len(answer.json["messages"]) == 2
    # It may find the reported ones by the reports or by the posts of the page: both are few in a table this small.
    assert rows_read(plans[0], "messaging_message", "messaging_report") <= 8, plans


def test_a_hiding_is_undone_to_the_status_of_before(owner: Account, community: Community) -> None:
    api = Api.as_person(owner)
    for status in (MessageStatus.PENDING, MessageStatus.PUBLISHED):
        post = MessageFactory(community=community, status=status)
        path = f"/v1/moderation/messages/{post.pk}"
        Report.objects.create(message=post, reporter=PersonFactory(), reason="spam")
        bystander = MessageFactory(community=community, status=MessageStatus.HIDDEN)
        assert api.post(f"{path}/hide", {}).json["status"] == "hidden"
        assert post.reports.get().closed_at is not None
        assert api.post(f"{path}/restore", {"undo": "yes"}).refusal["field"] == "undo"
        assert api.post(f"{path}/restore", {"undo": True}).json["status"] == status
        assert post.reports.get().closed_at is None
        assert api.post(f"{path}/restore", {"undo": True}).error == "message_state_changed"
        bystander.refresh_from_db()
        assert bystander.status == MessageStatus.HIDDEN
    assert Api.as_person(PersonFactory()).post(f"{path}/restore", {"undo": True}).error == "moderator_required"
