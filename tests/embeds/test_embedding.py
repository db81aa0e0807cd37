"""Who may choose a community for an embed (rule `embedding`), and moderators who end the embeds of others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.contrib.admin.models import LogEntry
from django.db import transaction
from django.test import Client

from embeds.models import Embed
from embeds.services import create_embed, end_embed, update_embed
from kernel.api.exceptions import ApiError
from messaging.communities.moderators import remove_moderator
from messaging.communities.services import create_community
from messaging.models import Account, Community, Decision, Embedding, Message, Moderator, Webhook
from messaging.moderation.moderators import change_rules
from tests.admin.bystanders import Unchanged
from tests.admin.pages import page as admin_page
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.commands.running import refused, run_json
from tests.embeds.making import INSTANCES, UNKNOWN_ID, an_embed
from tests.factories import CommunityFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.sessions import in_background, wait_until_another_waits
from tests.webhooks.making import GLOBAL_URL

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> Account:
    person: Account = PersonFactory(handle="owner", name="The Owner")
    return person


@pytest.fixture
def community(owner: Account) -> Community:
    return create_community(owner=owner, name="Harbour")


def create(who: Account, community: Community, **body: Any) -> Answer:
    sent = {"name": "Widget", "communityId": str(community.pk)} | body
    return Api.as_signed_in(who).post(INSTANCES, sent)


def an_earlier_embed(community: Community, owner: Account | None = None, **fields: Any) -> Embed:
    """Return an embed from before the rule."""
    owner = owner or PersonFactory()
    embed: Embed = Embed.objects.create(owner=owner, community=community, name=fields.pop("name", "Earlier"), **fields)
    return embed


def of(community: Community, embed: Embed | None = None) -> str:
    embeds = f"/v1/moderation/communities/{community.pk}/embeds"
    return embeds if embed is None else f"{embeds}/{embed.pk}/end"


# The rule.


def test_a_community_of_a_person_is_for_the_embeds_of_its_moderators(community: Community, owner: Account) -> None:
    made = Api.as_person(owner).post("/v1/communities", {"name": "By the API"})
    assert made.json["rules"]["embedding"] == "moderators"
    assert Api().get(f"/v1/communities/{community.pk}").json["rules"]["embedding"] == "moderators"
    assert create(owner, community).status == 201


def test_a_stranger_may_not_choose_it_in_a_new_embed_nor_in_a_change(community: Community) -> None:
    stranger = PersonFactory()
    answers = [create(stranger, community)]
    own = an_embed(stranger)
    api = Api.as_signed_in(stranger)
    answers.append(api.put(f"{INSTANCES}/{own.pk}", {"communityId": str(community.pk)}))
    assert [(answer.status, answer.error, answer.json["field"]) for answer in answers] == [
        (403, "moderator_required", "communityId")
    ] * 2
    assert Embed.objects.get().community_id == own.community_id


def test_who_moderates_no_more_may_not_choose_it_any_more(community: Community, owner: Account) -> None:
    other = PersonFactory()
    Moderator.objects.create(community=community, account=other)
    assert create(other, community).status == 201
    remove_moderator(community_id=community.pk, account_id=other.pk, by=owner)
    assert create(other, community).error == "moderator_required"


def test_super_admins_and_owners_of_open_communities_may(community: Community) -> None:
    assert create(SuperAdminFactory(), community).status == 201
    assert create(PersonFactory(), CommunityFactory()).status == 201


def test_an_unknown_community_is_404_for_everybody() -> None:
    answer = Api.as_signed_in(PersonFactory()).post(INSTANCES, {"name": "E", "communityId": UNKNOWN_ID})
    assert (answer.status, answer.error) == (404, "community_not_found")


def test_an_embed_from_before_stays_and_is_changed_as_before(community: Community) -> None:
    embed = an_earlier_embed(community)
    api = Api.as_signed_in(embed.owner)
    body = {"name": "Renamed", "communityId": str(community.pk), "status": "paused"}
    assert api.put(f"{INSTANCES}/{embed.pk}", body).status == 200
    other = CommunityFactory()
    assert api.put(f"{INSTANCES}/{embed.pk}", {"communityId": str(other.pk)}).status == 200
    # It left, and does not come back.
    assert api.put(f"{INSTANCES}/{embed.pk}", {"communityId": str(community.pk)}).error == "moderator_required"


def test_moderators_change_the_rule_and_it_is_logged(
    community: Community, owner: Account, unchanged: Unchanged
) -> None:
    unchanged(CommunityFactory())
    path, api = f"/v1/moderation/communities/{community.pk}", Api.as_person(owner)
    assert api.put(path, {"rules": {"embedding": "open"}}).json["rules"]["embedding"] == "open"
    assert create(PersonFactory(), community).status == 201
    decision = Decision.objects.filter(community=community).first()
    assert decision is not None
    assert (decision.act, decision.columns) == ("changed", ["embedding"])
    for value in ("everyone", "", 1, True, ["open"], "OPEN"):
        answer = api.put(path, {"rules": {"embedding": value}})
        assert (answer.status, answer.json["field"]) == (400, "rules.embedding")
    assert Api.as_person(PersonFactory()).put(path, {"rules": {"embedding": "open"}}).error == "moderator_required"


def test_the_command_makes_an_open_community_unless_it_has_moderators(owner: Account) -> None:
    other = PersonFactory(handle="other")
    assert run_json("create_community", "Open")["rules"]["embedding"] == "open"
    handles = ("--moderator", "owner", "--moderator", "@other")
    assert run_json("create_community", "Moderated", *handles)["rules"]["embedding"] == "moderators"
    rule = ("--rule", "embedding=open")
    assert run_json("create_community", "Both", "--moderator", "owner", *rule)["rules"]["embedding"] == "open"
    # A later run changes only what is given.
    assert run_json("create_community", "Open", "--moderator", "owner")["rules"]["embedding"] == "open"
    moderators = Moderator.objects.order_by("community__name", "account__handle")
    names = list(moderators.values_list("community__name", "account__handle"))
    assert names == [("Both", "owner"), ("Moderated", "other"), ("Moderated", "owner"), ("Open", "owner")]
    added = Decision.objects.filter(act="added", by=None)
    assert added.count() == 4
    assert set(added.values_list("account", flat=True)) == {owner.pk, other.pk}
    run_json("create_community", "Moderated", *handles)
    assert added.count() == 4


def test_the_command_refuses_unknown_values_and_moderators() -> None:
    assert "embedding" in refused("create_community", "Harbour", "--rule", "embedding=nobody")
    assert "does not exist" in refused("create_community", "Harbour", "--moderator", "nobody_here")
    assert not Community.objects.exists()


def test_the_form_of_the_admin_has_the_rule(admin_client: Client) -> None:
    form = {"name": "Harbour", "slug": "harbour", "agents_may_post": "on", "pre_moderation": "off"}
    assert admin_client.post(admin_page(Community, "add"), form | {"embedding": "moderators"}).status_code == 302
    made = Community.objects.get()
    assert made.embedding == Embedding.MODERATORS
    for sent, expected in (({}, "moderators"), ({"embedding": "open"}, "open")):
        assert admin_client.post(admin_page(made), form | sent).status_code == 302
        made.refresh_from_db()
        assert made.embedding == expected
    for wrong in ("", "everyone"):
        assert admin_client.post(admin_page(made), form | {"embedding": wrong}).status_code == 200
    assert "embedding (moderators → open)" in admin_client.get(admin_page(made, "history")).content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_rule_that_is_changed_meanwhile_holds_for_the_embed_that_waited(community: Community, owner: Account) -> None:
    change_rules(community_id=community.pk, changes={"embedding": "open"}, by=owner)
    stranger = PersonFactory()

    def choose() -> str:
        try:
            create_embed(owner=stranger, name="Late", community_id=community.pk)
        except ApiError as refusal:
            return refusal.code
        return "created"

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            change_rules(community_id=community.pk, changes={"embedding": "moderators"}, by=owner)
            late = in_background(pool, choose)
            wait_until_another_waits()
        assert late.result() == "moderator_required"
    assert not Embed.objects.exists()


# What moderators see and end.


def test_moderators_see_the_embeds_of_their_community(community: Community, owner: Account) -> None:
    stranger = PersonFactory(handle="stranger", name="A Stranger")
    own = an_embed(owner, name="Own", community_id=community.pk)
    foreign = an_earlier_embed(community, stranger, domain_whitelist=["site.example"], status="paused")
    an_embed(name="Of another community")
    an_earlier_embed(community, deleted_at=foreign.created_at)
    listed = Api.as_person(owner).get(of(community)).json
    assert [embed["id"] for embed in listed["embeds"]] == [str(foreign.pk), str(own.pk)]
    first = listed["embeds"][0]
    assert first.keys() == {"id", "name", "status", "owner", "domainWhitelist", "createdAt"}
    assert (first["name"], first["status"], first["domainWhitelist"]) == ("Earlier", "paused", ["site.example"])
    assert (first["owner"]["handle"], first["owner"]["name"]) == ("stranger", "A Stranger")
    assert (listed["hasMore"], listed["nextCursor"]) == (False, None)


def test_the_list_has_pages_and_cursors_of_its_own(community: Community, owner: Account) -> None:
    made = [str(an_earlier_embed(community, name=str(number)).pk) for number in range(5)]
    api, seen, cursor = Api.as_person(owner), [], None
    while True:
        answer = api.get(of(community), limit=2, **({"cursor": cursor} if cursor else {})).json
        seen += [embed["id"] for embed in answer["embeds"]]
        if not (cursor := answer["nextCursor"]):
            break
    assert seen == made[::-1]
    other = create_community(owner=owner, name="Another")
    cursor = api.get(of(community), limit=2).json["nextCursor"]
    assert api.get(of(other), cursor=cursor).error == "invalid_cursor"
    assert api.get(of(community), limit=0).status == 400


def test_a_list_takes_a_constant_number_of_queries(
    community: Community, owner: Account, django_assert_num_queries: Any
) -> None:
    for _ in range(3):
        an_earlier_embed(community)
    api = Api.as_person(owner)
    with django_assert_num_queries(4):  # the credential, the community, the moderator, the embeds
        assert len(api.get(of(community)).json["embeds"]) == 3


def test_others_neither_see_nor_end_them(community: Community, unchanged: Unchanged) -> None:
    embed = unchanged(an_earlier_embed(community))
    for who in (embed.owner, PersonFactory()):
        api = Api.as_person(who)
        assert api.get(of(community)).error == "moderator_required"
        assert api.post(of(community, embed), {}).error == "moderator_required"


def test_a_moderator_ends_the_embed_of_another(community: Community, owner: Account, unchanged: Unchanged) -> None:
    embed, other = an_earlier_embed(community), an_earlier_embed(community)
    unchanged(other, embed.owner, community, an_embed(owner, community_id=community.pk))
    body = {"url": GLOBAL_URL, "embedId": str(embed.pk)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("django.conf.settings.WEBHOOKS", True, raising=False)
        assert Api.as_person(embed.owner).post("/v1/webhooks", body).status == 201
    sent = {"pageId": PageFactory().pk, "content": "Before"}
    posted = Api.as_person(PersonFactory()).post("/api/messages", sent, headers={"x-service-embed-id": str(embed.pk)})
    answer = Api.as_person(owner).post(of(community, embed), {"reason": " Advertisements. "})
    assert (answer.status, answer.json) == (200, {"id": str(embed.pk), "ended": True})
    embed.refresh_from_db()
    assert embed.deleted_at is not None
    assert not Webhook.objects.exists()
    assert Api().get(f"/api/embeds/config/{embed.pk}").status == 404
    assert Api().get(f"/api/embeds/config/{other.pk}").status == 200
    assert Api().get(f"/api/messages/{posted.json['id']}").status == 200
    assert Api.as_signed_in(embed.owner).get(f"{INSTANCES}/{embed.pk}").error == "embed_not_found"
    decision = Decision.objects.get(act="ended")
    assert (decision.community, decision.by, decision.account) == (community, owner, embed.owner)
    assert (decision.reason, decision.get_act_display()) == ("Advertisements.", "widget ended")
    entry = LogEntry.objects.get(object_id=str(embed.pk))
    assert (entry.user_id, entry.change_message) == (owner.pk, "Ended: Advertisements.")


def test_a_second_end_is_404_and_a_retry_with_its_key_is_not(community: Community, owner: Account) -> None:
    embed, api = an_earlier_embed(community), Api.as_person(owner)
    assert api.post(of(community, embed), {}, key="once").status == 200
    assert api.post(of(community, embed), {}, key="once").status == 200
    second = api.post(of(community, embed), {})
    assert (second.status, second.error) == (404, "embed_not_found")
    assert Decision.objects.filter(act="ended").count() == 1
    Moderator.objects.all().delete()
    assert api.post(of(community, embed), {}, key="once").error == "moderator_required"


def test_an_embed_of_another_community_is_not_ended(community: Community, owner: Account, unchanged: Unchanged) -> None:
    embed = unchanged(an_embed())
    api = Api.as_person(owner)
    for path in (of(community, embed), f"{of(community)}/{UNKNOWN_ID}/end", f"{of(community)}/x/end"):
        answer = api.post(path, {})
        assert (answer.status, answer.error) == (404, "embed_not_found")
    for path in (of(CommunityFactory(), embed),):
        assert api.post(path, {}).error == "moderator_required"
    assert api.post(f"/v1/moderation/communities/{UNKNOWN_ID}/embeds/{embed.pk}/end", {}).error == "community_not_found"
    assert api.get(f"/v1/moderation/communities/{UNKNOWN_ID}/embeds").error == "community_not_found"


@pytest.mark.parametrize("reason", ["x" * 501, 7, ["a"], {}])
def test_a_reason_is_a_text_of_at_most_500_characters(community: Community, owner: Account, reason: Any) -> None:
    embed = an_earlier_embed(community)
    answer = Api.as_person(owner).post(of(community, embed), {"reason": reason})
    assert answer.status in (400, 413)
    assert Embed.objects.live().filter(pk=embed.pk).exists()


def test_a_super_admin_ends_an_embed_of_any_community(community: Community) -> None:
    embed = an_earlier_embed(community)
    assert Api.as_person(SuperAdminFactory()).post(of(community, embed), {}).status == 200


@pytest.mark.django_db(transaction=True)
def test_two_moderators_end_it_once(community: Community, owner: Account) -> None:
    embed = an_earlier_embed(community)

    def end(_number: int) -> str:
        try:
            end_embed(community_id=community.pk, embed_id=embed.pk, by=owner)
        except ApiError as refusal:
            return refusal.code
        return "ended"

    assert sorted(race(2, end)) == ["embed_not_found", "ended"]
    assert Decision.objects.filter(act="ended").count() == 1


def test_a_paused_embed_is_ended_and_one_that_moved_on_is_not(community: Community, owner: Account) -> None:
    paused, moved = an_earlier_embed(community, status="paused"), an_earlier_embed(community)
    update_embed(embed_id=moved.pk, owner=moved.owner, community_id=CommunityFactory().pk)
    api = Api.as_person(owner)
    assert [api.post(of(community, embed), {}).status for embed in (paused, moved)] == [200, 404]


# Attempts of a stranger.


def test_a_stranger_gets_no_post_nor_rule_into_a_community_of_another(community: Community, owner: Account) -> None:
    """Neither by an embed, nor by words that would keep its members from writing."""
    site = an_embed(owner, community_id=community.pk, blocked_words=["spam"])
    stranger = PersonFactory()
    own = an_embed(stranger, blocked_words=["good"])
    tried = [
        create(stranger, community, blockedWords=["good"]),
        Api.as_signed_in(stranger).put(f"{INSTANCES}/{own.pk}", {"communityId": str(community.pk)}),
        Api.as_signed_in(stranger).put(f"{INSTANCES}/{site.pk}", {"communityId": str(own.community_id)}),
        Api.as_signed_in(stranger).delete(f"{INSTANCES}/{site.pk}"),
    ]
    assert {answer.status for answer in tried} == {403}
    page = PageFactory().pk
    sent = {"pageId": page, "communityId": str(community.pk), "content": "Good day"}
    assert Api.as_person(PersonFactory()).post("/api/messages", sent).status == 201
    for headers in ({}, {"x-service-embed-id": str(site.pk)}, {"x-service-embed-id": str(own.pk)}):
        for text in ("spam", "S P A M spam", "sp\u200bam"):
            answer = Api.as_person(stranger).post("/api/messages", sent | {"content": text}, headers=headers)
            assert answer.status in (400, 422)
    assert set(Message.objects.values_list("content", flat=True)) == {"Good day"}
    assert UUID(Api().get("/api/messages", pageId=page).json["messages"][0]["communityId"]) == community.pk
