"""Moderation by moderators: the operations below /v1/moderation, and what a ban refuses."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from messaging.communities.services import create_community
from messaging.models import Account, Ban, Community, Decision, Message, Moderator
from messaging.privacy.erasing import heirs
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
QUEUE, MESSAGES, COMMUNITIES = "/v1/moderation/queue", "/v1/moderation/messages", "/v1/moderation/communities"


@pytest.fixture
def creator() -> Account:
    account: Account = PersonFactory()
    return account


@pytest.fixture
def community(creator: Account) -> Community:
    return create_community(owner=creator, name="Harbour")


@pytest.fixture
def api(creator: Account) -> Api:
    return Api.as_person(creator)


def of(community: Community, path: str = "") -> str:
    return f"{COMMUNITIES}/{community.pk}{path}"


def ban(api: Api, community: Community, account: Account) -> Answer:
    return api.post(of(community, "/bans"), {"accountId": str(account.pk), "reason": "Floods."})


def test_new_moderators_are_few_an_hour_and_removals_are_not_refused(
    api: Api, community: Community, settings: Any
) -> None:
    """Each new one empties the response cache of the whole service."""
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"new_moderator": (2, 3600)}
    path, people = of(community, "/moderators"), [PersonFactory() for _ in range(3)]
    answers = [api.post(path, {"handle": person.handle}) for person in (*people[:2], people[0])]
    assert [answer.status for answer in answers] == [200] * 3
    assert api.delete(f"{path}/{people[0].pk}").status == 200
    refused = api.post(path, {"handle": people[2].handle})
    assert (refused.status, refused.error, refused.refusal["counter"]) == (429, "rate_limited", "new_moderator")
    assert not community.moderators.filter(account=people[2]).exists()
    assert api.delete(f"{path}/{people[1].pk}").status == 200
    # Another person has a count of their own.
    boss = Api.as_person(SuperAdminFactory())
    assert boss.post(path, {"handle": people[2].handle}).status == 200


def test_a_community_is_created_once_per_key(creator: Account) -> None:
    api, key = Api.as_person(creator), "one"
    first, second = (api.post("/v1/communities", {"name": " Harbour "}, key=key) for _ in range(2))
    assert (first.status, first.json["name"], first.json["slug"]) == (201, "Harbour", "harbour")
    assert (second.json, Community.objects.count()) == (first.json, 1)
    assert Api().get(first.headers["Location"]).json == first.json


def test_who_ends_their_own_moderation_gets_the_response_again(api: Api, community: Community) -> None:
    """And no other response: what they did as a moderator before is refused."""
    person, other = PersonFactory(), PersonFactory()
    for added in (person, other):
        assert api.post(of(community, "/moderators"), {"handle": added.handle}).status == 200
    moderator = Api.as_person(person)
    of_other, own = (of(community, f"/moderators/{removed.pk}") for removed in (other, person))
    assert moderator.delete(of_other, key="other").status == 200
    first = moderator.delete(own, key="own")
    again = moderator.delete(own, key="own")
    assert (first.status, again.status, again.json) == (200, 200, first.json)
    assert moderator.delete(of_other, key="other").error == "moderator_required"


def test_an_invalid_community_is_refused(api: Api) -> None:
    for body in ({}, {"name": 1}, {"name": "a\u202eb"}, {"name": "x" * 121}, {"name": "A", "slug": ""}):
        assert api.post("/v1/communities", body).status == 400, body


def test_the_queue_has_one_own_communities_and_a_fixed_number_of_queries(
    community: Community, api: Api, django_assert_num_queries: Any
) -> None:
    posts = [MessageFactory(community=community, status="pending") for _ in range(3)]
    for post in posts:
        post.reports.create(reporter=PersonFactory(), reason="spam", note="Again")
    MessageFactory(community=CommunityFactory(), status="pending")
    with django_assert_num_queries(3):
        answer = api.get(QUEUE)
    assert [message["id"] for message in answer.json["messages"]] == [str(post.pk) for post in posts]
    report = answer.json["messages"][0]["reports"][0]
    assert (report["reason"], report["note"], report.keys()) == ("spam", "Again", {"reason", "note", "at"})
    assert len(Api.as_person(SuperAdminFactory()).get(QUEUE).json["messages"]) == 4
    assert Api.as_person(PersonFactory()).get(QUEUE).json["messages"] == []


def test_the_queue_is_read_by_cursors(community: Community, api: Api) -> None:
    ids = [str(MessageFactory(community=community, status="pending").pk) for _ in range(3)]
    first = api.get(QUEUE, limit=2).json
    second = api.get(QUEUE, limit=2, cursor=first["nextCursor"]).json
    assert [message["id"] for message in first["messages"] + second["messages"]] == ids
    assert api.get(QUEUE, state="reported", cursor=first["nextCursor"]).status == 400
    assert api.get(QUEUE, state="other").status == 400


def test_a_decision_closes_the_reports_and_is_logged_for_both(community: Community, api: Api) -> None:
    post, other = MessageFactory(community=community), MessageFactory(community=community)
    for each in (post, other):
        each.reports.create(reporter=PersonFactory(), reason="spam")
    approved = api.post(f"{MESSAGES}/{post.pk}/approve", {"reason": "Fine."})
    assert approved.json == {"id": str(post.pk), "status": "published"}
    assert [each.reports.filter(closed_at=None).count() for each in (post, other)] == [0, 1]
    assert Decision.objects.filter(act="dismissed", message=post, reason="Fine.").exists()
    assert LogEntry.objects.filter(
        object_id=str(post.pk), change_message="Reports dismissed (open → closed): Fine."
    ).exists()
    refused = api.post(f"{MESSAGES}/{post.pk}/approve", {})
    assert (refused.status, refused.error) == (409, "message_state_changed")


def test_posts_without_a_community_are_moderated_by_super_admins(api: Api, community: Community) -> None:
    post = MessageFactory()
    assert api.post(f"{MESSAGES}/{post.pk}/hide", {}).error == "moderator_required"
    assert Api.as_person(SuperAdminFactory()).post(f"{MESSAGES}/{post.pk}/hide", {}).status == 200


def test_an_unknown_post_or_community_is_not_found(api: Api) -> None:
    assert api.post(f"{MESSAGES}/{uuid4()}/hide", {}).error == "message_not_found"
    assert api.put(f"{COMMUNITIES}/{uuid4()}", {}).error == "community_not_found"
    assert api.get(QUEUE, communityId=str(uuid4())).error == "community_not_found"


def test_a_replay_needs_the_right_still(community: Community, creator: Account, api: Api) -> None:
    helper, post = PersonFactory(), MessageFactory(community=community)
    Moderator.objects.create(community=community, account=helper)
    first = Api.as_person(helper).post(f"{MESSAGES}/{post.pk}/hide", {}, key="k")
    assert Api.as_person(helper).post(f"{MESSAGES}/{post.pk}/hide", {}, key="k").json == first.json
    assert api.delete(of(community, f"/moderators/{helper.pk}")).status == 200
    assert Api.as_person(helper).post(f"{MESSAGES}/{post.pk}/hide", {}, key="k").error == "moderator_required"


def test_a_banned_person_and_their_agents_write_nothing_there(community: Community, api: Api) -> None:
    agent = agent_with_token()
    person = agent.operator
    writers = [person, agent.api]
    parent = MessageFactory(community=community)
    own = person.post("/api/messages", {"pageId": parent.page_id, "communityId": str(community.pk), "content": "x"})
    emoji = person.post("/v1/reactions", {"messageId": str(parent.pk), "emoji": "🎉"}).json
    bystander = agent_with_token()
    assert ban(api, community, bystander.request.requester).status == 200
    assert ban(api, community, agent.request.requester).status == 200
    base = {"pageId": parent.page_id, "content": "x"}
    for writer in writers:
        for body in ({"communityId": str(community.pk)}, {"parentId": str(parent.pk)}):
            refused = writer.post("/api/messages", base | body)
            assert (refused.status, refused.error) == (403, "banned_from_community")
        reaction = {"messageId": str(parent.pk), "emoji": "👍"}
        assert writer.post("/v1/reactions", reaction).error == "banned_from_community"
        assert writer.post("/api/messages", base).status == 201, "elsewhere they may write"
    post_id = own.json["id"]
    assert person.put(f"/api/messages/{post_id}", {"content": "y"}).error == "banned_from_community"
    assert person.delete(f"/v1/reactions/{emoji['reactionId']}").status == 200
    assert person.delete(f"/api/messages/{post_id}").status == 200
    assert api.delete(of(community, f"/bans/{agent.request.requester.pk}")).status == 200
    assert person.post("/api/messages", base | {"communityId": str(community.pk)}).status == 201
    still = bystander.operator.post("/api/messages", base | {"communityId": str(community.pk)})
    assert still.error == "banned_from_community", "only one ban was lifted"


def test_the_ban_of_an_agent_leaves_its_operator_free(community: Community, api: Api) -> None:
    agent = agent_with_token()
    ban(api, community, agent.account)
    body = {"pageId": PageFactory().pk, "communityId": str(community.pk), "content": "x"}
    assert agent.api.post("/api/messages", body).error == "banned_from_community"
    assert agent.operator.post("/api/messages", body).status == 201


def test_a_ban_is_checked_by_the_query_of_the_community(community: Community) -> None:
    body = {"pageId": PageFactory().pk, "communityId": str(community.pk), "content": "x"}
    with CaptureQueriesContext(connection) as captured:
        assert Api.as_person(PersonFactory()).post("/api/messages", body).status == 201
    statements = [query["sql"] for query in captured if "messaging_ban" in query["sql"]]
    assert len(statements) == 1
    assert "FROM messaging_community" in statements[0]


def test_reports_of_banned_accounts_put_no_post_back(community: Community, api: Api) -> None:
    api.put(of(community), {"rules": {"reportsToHide": 1}})
    post, banned = MessageFactory(community=community), PersonFactory()
    ban(api, community, banned)
    path = f"/api/messages/{post.pk}/report"
    assert Api.as_person(banned).post(path, {"reason": "spam"}).status == 200
    assert Message.objects.get(pk=post.pk).status == "published"
    Api.as_person(PersonFactory()).post(path, {"reason": "spam"})
    assert Message.objects.get(pk=post.pk).status == "pending"


def test_nobody_is_banned_and_a_moderator(community: Community, creator: Account, api: Api) -> None:
    assert ban(api, community, creator).error == "moderator_banned"
    assert ban(api, community, SuperAdminFactory()).error == "moderator_banned"
    troll = PersonFactory()
    first, second = ban(api, community, troll), ban(api, community, troll)
    assert (first.json, Ban.objects.count()) == (second.json, 1)
    assert api.post(of(community, "/moderators"), {"handle": troll.handle}).error == "moderator_banned"


def test_the_account_of_all_erased_people_is_not_banned(community: Community, api: Api) -> None:
    for heir_id in heirs().values():
        answer = api.post(of(community, "/bans"), {"accountId": str(heir_id), "reason": "Floods."})
        assert (answer.status, answer.error) == (404, "account_not_found")
    assert not Ban.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_ban_and_an_appointment_at_once_do_not_both_succeed() -> None:
    creator, person = PersonFactory(), PersonFactory()
    community = create_community(owner=creator, name="Harbour")
    api = Api.as_person(creator)
    handle = {"handle": person.handle}
    race(2, lambda number: api.post(of(community, "/moderators"), handle) if number else ban(api, community, person))
    found = Ban.objects.filter(account=person).count() + Moderator.objects.filter(account=person).count()
    assert found == 1


def test_who_may_remove_whom(community: Community, creator: Account, api: Api) -> None:
    helper = PersonFactory()
    assert api.delete(of(community, f"/moderators/{creator.pk}")).error == "last_moderator"
    assert api.post(of(community, "/moderators"), {"handle": helper.handle}).json["account"]["id"] == str(helper.pk)
    of_helper = Api.as_person(helper)
    assert of_helper.delete(of(community, f"/moderators/{creator.pk}")).error == "creator_protected"
    assert api.delete(of(community, f"/moderators/{creator.pk}")).status == 200, "the creator leaves"
    assert api.delete(of(community, f"/moderators/{helper.pk}")).error == "moderator_required"
    assert of_helper.delete(of(community, f"/moderators/{creator.pk}")).error == "moderator_not_found"
    super_admin = Api.as_person(SuperAdminFactory())
    assert super_admin.delete(of(community, f"/moderators/{helper.pk}")).status == 200, "also the last one"


def test_the_last_moderator_who_can_decide_does_not_leave(community: Community, creator: Account, api: Api) -> None:
    for cannot in ({"is_active": False}, {"erasure_due_at": Now()}):
        other = Moderator.objects.create(community=community, account=PersonFactory())
        Account.objects.filter(pk=other.account_id).update(**cannot)
        assert api.delete(of(community, f"/moderators/{creator.pk}")).error == "last_moderator"
        assert api.delete(of(community, f"/moderators/{other.account_id}")).status == 200
    assert list(Moderator.objects.values_list("account", flat=True)) == [creator.pk]


def test_only_people_moderate(community: Community, api: Api) -> None:
    for handle in ("nobody_here", agent_with_token().account.handle):
        assert api.post(of(community, "/moderators"), {"handle": handle}).error == "person_not_found"


def test_rules_and_words_change_what_is_given_only(community: Community, api: Api) -> None:
    first = api.put(of(community), {"blockedWords": ["casino*"], "rules": {"preModeration": "agents"}}).json
    assert (first["blockedWords"], first["rules"]["preModeration"]) == (["casino*"], "agents")
    second = api.put(of(community), {"rules": {"readOnly": True}}).json
    assert second == first | {"rules": first["rules"] | {"readOnly": True}}
    assert api.put(of(community), {}).json == second
    assert Decision.objects.filter(act="changed").count() == 2
    body = {"pageId": PageFactory().pk, "communityId": str(community.pk), "content": "x"}
    assert api.post("/api/messages", body).error == "community_forbids"


def test_an_invalid_rule_is_refused(community: Community, api: Api) -> None:
    for words, field in ((["*"], "blockedWords"), (["x" * 101], "blockedWords[0]"), ("casino", "blockedWords")):
        refused = api.put(of(community), {"blockedWords": words})
        assert (refused.status, refused.json["field"]) == (400, field)
    for rule, value in (("preModeration", "some"), ("reportsToHide", -1), ("readOnly", "yes")):
        refused = api.put(of(community), {"rules": {rule: value}})
        assert (refused.status, refused.json["field"]) == (400, f"rules.{rule}")
