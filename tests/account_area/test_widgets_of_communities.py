"""Which communities a site may have, and the page on which moderators end widgets of others."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from account_area.moderation import queries
from embeds.models import Embed
from messaging.communities.services import create_community
from messaging.models import Account, Community, Decision, Moderator
from tests.admin.bystanders import Unchanged
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
SITES = "/account/sites/"
NEW = f"{SITES}new/"
WHY = "Only its moderators may choose “Closed”."


@pytest.fixture
def closed() -> Community:
    return create_community(owner=PersonFactory(), name="Closed", slug="closed")


@pytest.fixture
def own(person: Account) -> Community:
    return create_community(owner=person, name="Harbour", slug="harbour")


def new_site(client: Client, community: str) -> Any:
    form = {"name": "Mine", "address": "https://mine.example/", "community_choice": "existing", "community": community}
    return client.post(NEW, form | {"shows": "community", "submission": str(uuid4())})


def widgets(community: Community, embed: Embed | None = None) -> str:
    path = f"/account/communities/{community.slug}/moderation/widgets/"
    return path if embed is None else f"{path}{embed.pk}/end/"


def a_foreign_widget(community: Community, **fields: Any) -> Embed:
    values = {"name": "Foreign <b>", "owner": PersonFactory(name="A Stranger", handle="stranger")} | fields
    embed: Embed = Embed.objects.create(community=community, **values)
    return embed


def test_a_new_site_offers_communities_that_the_person_may_choose(
    client: Client, closed: Community, own: Community
) -> None:
    CommunityFactory(name="Open", slug="open-one")
    shown = client.get(NEW).content.decode()
    assert [f'value="{slug}"' in shown for slug in ("harbour", "open-one", "closed")] == [True, True, False]


@pytest.mark.parametrize("text", ["closed", "Closed"])
def test_a_new_site_may_not_have_a_community_of_others_and_says_why(
    client: Client, closed: Community, person: Account, text: str
) -> None:
    response = new_site(client, text)
    assert response.status_code == 200
    assert WHY in response.content.decode()
    assert not Embed.objects.exists()
    Moderator.objects.create(community=closed, account=person)
    assert new_site(client, text).status_code == 302
    assert Embed.objects.get().community == closed


def test_of_one_name_the_community_that_may_be_chosen_is_meant(client: Client, closed: Community) -> None:
    open_one = CommunityFactory(name="Closed", slug="another-closed")
    assert new_site(client, "Closed").status_code == 302
    assert Embed.objects.get().community == open_one


def test_a_super_admin_may_choose_any(closed: Community) -> None:
    client = Client()
    client.force_login(SuperAdminFactory())
    assert 'value="closed"' in client.get(NEW).content.decode()
    assert new_site(client, "closed").status_code == 302


def settings_form(client: Client, site: Embed, **fields: Any) -> Any:
    page = client.get(f"{SITES}{site.pk}/settings/").content.decode()
    opened = page.split('name="opened" value="')[1].split('"')[0]
    form = {"name": site.name, "description": "", "whitelist": "", "blacklist": "", "opened": opened}
    return client.post(
        f"{SITES}{site.pk}/settings/", form | {"community": site.community.slug, "shows": site.shows} | fields
    )


def test_the_settings_keep_a_community_of_before_and_take_no_other_of_others(
    client: Client, person: Account, closed: Community, own: Community
) -> None:
    site = Embed.objects.create(owner=person, community=closed, name="Earlier")
    assert settings_form(client, site, name="Renamed").status_code == 302
    assert settings_form(client, site, community="Closed").status_code == 302
    assert settings_form(client, site, community="harbour").status_code == 302
    site.refresh_from_db()
    assert (site.name, site.community) == ("Earlier", own)
    response = settings_form(client, site, community="closed")
    assert response.status_code == 200
    assert WHY in response.content.decode()
    site.refresh_from_db()
    assert site.community == own


def test_a_refusal_of_the_service_is_on_the_field(client: Client, closed: Community, monkeypatch: Any) -> None:
    """The rule was changed after the form had looked at it."""
    monkeypatch.setattr("account_area.sites.queries.may_embed", lambda *_arguments: True)
    response = new_site(client, "closed")
    assert response.status_code == 200
    assert "You are not a moderator of this community" in response.content.decode()
    assert not Embed.objects.exists()


def test_the_rules_have_who_may_choose_the_community(client: Client, own: Community) -> None:
    path = f"/account/communities/{own.slug}/moderation/rules/"
    page = client.get(path).content.decode()
    assert "Who may choose the community for a widget" in page
    opened = page.split('name="opened" value="')[1].split('"')[0]
    form = {"agents_may_post": "on", "people_may_post": "on", "pre_moderation": "off", "opened": opened}
    assert client.post(path, form | {"embedding": "nobody"}).status_code == 200
    assert client.post(path, form | {"embedding": "open"}).status_code == 302
    own.refresh_from_db()
    assert own.embedding == "open"
    assert "Anybody may choose this community" in client.get(widgets(own)).content.decode()


def test_the_page_has_the_widgets_of_all_owners(client: Client, person: Account, own: Community) -> None:
    assert "No widget shows this community." in client.get(widgets(own)).content.decode()
    mine = an_embed(person, name="My page", community_id=own.pk)
    foreign = a_foreign_widget(own, status="paused", domain_whitelist=["site.example"])
    an_embed(name="Of another community")
    page = client.get(widgets(own)).content.decode()
    for shown in ("My page", "Foreign &lt;b&gt;", "A Stranger", "@stranger", "site.example", "Paused"):
        assert shown in page, shown
    assert "Of another community" not in page
    assert f"{SITES}{mine.pk}/settings/" in page
    assert f"{SITES}{foreign.pk}/settings/" not in page


def test_a_long_list_has_pages(client: Client, own: Community) -> None:
    owner = PersonFactory()
    Embed.objects.bulk_create(
        Embed(community=own, owner=owner, name=f"Number {n}.") for n in range(queries.LISTED_MAX + 1)
    )
    page = client.get(widgets(own)).content.decode()
    assert page.count("/end/") == queries.LISTED_MAX
    older = page.split('href="?cursor=')[1].split('"')[0]
    assert client.get(widgets(own), {"cursor": older}).content.decode().count("/end/") == 1
    assert client.get(widgets(own), {"cursor": "wrong"}).status_code == 400


def test_a_moderator_ends_a_widget_after_a_question(
    client: Client, person: Account, own: Community, unchanged: Unchanged
) -> None:
    foreign = a_foreign_widget(own)
    unchanged(an_embed(person, community_id=own.pk), foreign.owner)
    question = client.get(widgets(own, foreign)).content.decode()
    assert "End the widget “" in question
    assert "Foreign &lt;b&gt;" in question
    assert client.post(widgets(own, foreign), {"reason": "x" * 501}).status_code == 200
    assert Embed.objects.live().filter(pk=foreign.pk).exists()
    response = client.post(widgets(own, foreign), {"reason": "Advertisements."}, follow=True)
    assert "is ended" in response.content.decode()
    assert not Embed.objects.live().filter(pk=foreign.pk).exists()
    decision = Decision.objects.get(act="ended")
    assert (decision.by, decision.account, decision.reason) == (person, foreign.owner, "Advertisements.")
    log = client.get(f"/account/communities/{own.slug}/moderation/log/").content.decode()
    assert "Ended a widget" in log
    assert "Advertisements." in log
    assert client.post(widgets(own, foreign), {"reason": ""}).status_code == 404


def test_the_page_ends_no_widget_of_another_community(
    client: Client, own: Community, closed: Community, unchanged: Unchanged
) -> None:
    foreign = unchanged(a_foreign_widget(closed))
    for path in (widgets(own, foreign), widgets(closed, foreign)):
        assert [client.get(path).status_code, client.post(path, {}).status_code] == [404, 404]
    assert client.get(widgets(closed)).status_code == 404
