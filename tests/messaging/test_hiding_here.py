"""Hiding a post of others on the pages of one's own site: /v1/moderation/communities/{id}/hidden."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry

from messaging.communities.services import create_community
from messaging.models import Account, Community, Decision, HiddenHere, Message
from tests.agents.racing import race
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> Account:
    account: Account = PersonFactory()
    return account


@pytest.fixture
def community(owner: Account) -> Community:
    return create_community(owner=owner, name="Harbour")


def path_of(community: Community, message: Message | None = None) -> str:
    path = f"/v1/moderation/communities/{community.pk}/hidden"
    return path if message is None else f"{path}/{message.pk}"


def test_a_moderator_hides_a_post_of_others_and_shows_it_again(owner: Account, community: Community) -> None:
    api, post, bystander = Api.as_person(owner), MessageFactory(), MessageFactory()
    elsewhere = create_community(owner=owner, name="Elsewhere")
    api.post(path_of(elsewhere), {"messageId": str(post.pk)})
    api.post(path_of(community), {"messageId": str(bystander.pk)})
    hidden = api.post(path_of(community), {"messageId": str(post.pk), "reason": " Spam. "})
    assert (hidden.status, hidden.json["messageId"]) == (200, str(post.pk))
    again = api.post(path_of(community), {"messageId": str(post.pk), "reason": "Other."})
    assert again.json == hidden.json
    assert api.get(path_of(community)).json["hidden"][0] == hidden.json
    post.refresh_from_db()
    assert post.status == "published"
    shown = api.delete(path_of(community, post))
    assert shown.json == {"communityId": str(community.pk), "messageId": str(post.pk), "ended": True}
    assert api.delete(path_of(community, post)).error == "message_not_found"
    left = set(HiddenHere.objects.values_list("community_id", "message_id"))
    assert left == {(elsewhere.pk, post.pk), (community.pk, bystander.pk)}
    decisions = Decision.objects.filter(community=community, message=post).order_by("id")
    assert list(decisions.values_list("act", "reason")) == [("excluded", "Spam."), ("included", "")]
    assert LogEntry.objects.filter(change_message__contains="Hidden on the pages").count() == 3


def test_refusals_change_nothing(owner: Account, community: Community) -> None:
    api, own = Api.as_person(owner), MessageFactory(community=community)
    foreign = create_community(owner=PersonFactory(), name="Theirs")
    post = MessageFactory()
    refusals = [
        (path_of(community), {"messageId": str(own.pk)}, "invalid_input"),
        (path_of(community), {"messageId": str(uuid4())}, "message_not_found"),
        (path_of(community), {"messageId": 1}, "invalid_input"),
        (path_of(community), {}, "invalid_input"),
        (path_of(community), {"messageId": str(post.pk), "reason": "x" * 501}, "invalid_input"),
        (path_of(foreign), {"messageId": str(post.pk)}, "moderator_required"),
        (f"/v1/moderation/communities/{uuid4()}/hidden", {"messageId": str(post.pk)}, "community_not_found"),
    ]
    for path, body, error in refusals:
        answer = api.post(path, body)
        assert 400 <= answer.status < 500, (path, body)
        assert answer.error == error, (path, body)
    assert api.get(path_of(foreign)).error == "moderator_required"
    assert api.delete(path_of(foreign, post)).error == "moderator_required"
    assert Api().get(path_of(community)).status == 401
    assert not HiddenHere.objects.exists()


@pytest.mark.parametrize(
    "state",
    [{"status": "pending"}, {"status": "hidden"}, {"status": "deleted"}, {"in_hidden_thread": True}],
)
def test_a_post_that_nobody_sees_is_unknown(owner: Account, community: Community, state: dict[str, object]) -> None:
    api, bystander = Api.as_person(owner), MessageFactory()
    post = MessageFactory(community=create_community(owner=PersonFactory(), name="Theirs"), **state)
    assert api.post(path_of(community), {"messageId": str(post.pk)}).error == "message_not_found"
    assert api.post(path_of(community), {"messageId": str(bystander.pk)}).status == 200
    assert list(HiddenHere.objects.values_list("message_id", flat=True)) == [bystander.pk]
    assert list(Decision.objects.filter(act="excluded").values_list("message_id", flat=True)) == [bystander.pk]


def test_a_tombstone_is_hidden_with_the_replies_to_it(owner: Account, community: Community) -> None:
    post = MessageFactory(status="deleted", is_tombstone=True)
    assert Api.as_person(owner).post(path_of(community), {"messageId": str(post.pk)}).status == 200


def test_a_super_admin_may_hide_everywhere(community: Community) -> None:
    post = MessageFactory()
    answer = Api.as_person(SuperAdminFactory()).post(path_of(community), {"messageId": str(post.pk)})
    assert answer.status == 200


def test_a_replay_is_refused_to_whom_is_no_moderator_any_more(owner: Account, community: Community) -> None:
    post, body = MessageFactory(), {}
    body = {"messageId": str(post.pk)}
    assert Api.as_person(owner).post(path_of(community), body, key="one").status == 200
    community.moderators.all().delete()
    assert Api.as_person(owner).post(path_of(community), body, key="one").error == "moderator_required"


@pytest.mark.django_db(transaction=True)
def test_two_moderators_hide_one_post_once(owner: Account, community: Community) -> None:
    post = MessageFactory()
    api = Api.as_person(owner)
    answers = race(2, lambda _number: api.post(path_of(community), {"messageId": str(post.pk)}))
    assert [answer.status for answer in answers] == [200, 200]
    assert (HiddenHere.objects.count(), Decision.objects.filter(act="excluded").count()) == (1, 1)
