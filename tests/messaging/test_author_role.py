"""`authorRole` says that the author of a post moderates its community."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from messaging.models import Account, Community, Moderator, Page
from messaging.posts.message_fields import JOINS
from messaging.posts.queries import COLUMNS
from messaging.privacy.erasing import heirs
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.plans import indexes, plan_of, rows_read

pytestmark = pytest.mark.django_db


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


def role(post: Any) -> Any:
    return Api().get(f"/api/messages/{post['id'] if isinstance(post, dict) else post.pk}").json["authorRole"]


def test_every_response_has_the_role(moderator: Account, community: Community, page: Page) -> None:
    api = Api.as_person(moderator)
    body = {"pageId": page.pk, "communityId": str(community.pk), "content": "A remarkable thing"}
    post = api.post("/api/messages", body).json
    reply = api.post("/api/messages", body | {"parentId": post["id"]}).json
    draft = api.post("/api/messages?dryRun=true", body).json["message"]
    edited = api.put(f"/api/messages/{post['id']}", {"content": "A more remarkable thing"}).json
    listed = Api().get("/api/messages", pageId=page.pk, includeTopReply=True).json["messages"]
    many = Api().get("/api/messages", pageId=page.pk, limit=50).json["messages"]
    found = Api().get("/v1/search", q="remarkable", pageId=page.pk).json["messages"]
    changes = Api().get("/v1/changes", pageId=page.pk).json["changes"]
    records = [post, reply, draft, edited, *listed, *many, *found, *(change["message"] for change in changes)]
    records.append(listed[0]["topReply"])
    assert len(records) >= 10
    assert {record["authorRole"] for record in records} == {"moderator"}
    assert role(post) == "moderator"


def test_others_have_none(moderator: Account, community: Community, page: Page) -> None:
    elsewhere = CommunityFactory()
    boss = SuperAdminFactory()
    strangers = [
        MessageFactory(community=community),
        MessageFactory(community=community, author=boss),
        MessageFactory(community=elsewhere, author=moderator),
        MessageFactory(author=moderator),
    ]
    assert [role(post) for post in strangers] == [None] * 4
    body = {"pageId": page.pk, "communityId": str(elsewhere.pk), "content": "Hello"}
    for author in (moderator, boss):
        for sent in (body, {"pageId": page.pk, "content": "Hello"}):
            assert Api.as_person(author).post("/api/messages", sent).json["authorRole"] is None
    community.moderators.create(account=boss)
    assert role(MessageFactory(community=community, author=boss)) == "moderator"


def test_a_tombstone_and_an_erased_author_have_none(moderator: Account, community: Community) -> None:
    post = MessageFactory(community=community, author=moderator)
    MessageFactory(parent=post, community=community)
    assert Api.as_person(moderator).delete(f"/api/messages/{post.pk}").status == 200
    assert Api().get(f"/api/messages/{post.pk}").json["status"] == "deleted"
    assert role(post) is None
    heir = Account.objects.get(pk=heirs()["human"])
    assert role(MessageFactory(community=community, author=heir)) is None


def test_a_list_looks_each_role_up_by_the_index(community: Community, page: Page) -> None:
    """Only of posts with a community, also where many people moderate others."""
    accounts = Account.objects.bulk_create(Account(handle=f"m_{number}", name="M") for number in range(30))
    communities = [community, *(CommunityFactory() for _ in range(20))]
    Moderator.objects.bulk_create(Moderator(community=each, account=of) for each in communities for of in accounts)
    for number in range(20):
        MessageFactory(page=page, community=community if number % 2 else None, author=accounts[0])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE messaging_moderator")
    plan = plan_of(
        f"SELECT {COLUMNS} {JOINS} WHERE m.page_id = '{page.pk}' AND m.parent_id IS NULL AND m.status = 'published'"
    )
    assert rows_read(plan, "messaging_moderator") == 10
    assert "one_moderator" in indexes(plan)
