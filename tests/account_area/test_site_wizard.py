"""The three steps that create a site: what they store, the line of code that follows, and the way back."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from account_area.sites.checks import faults_of_code
from account_area.sites.numbers import Numbers
from embeds.embed_code import embed_code
from embeds.models import DailyCount, Embed
from embeds.services import create_embed, update_embed
from messaging.models import Account, Community
from tests.admin.bystanders import Unchanged
from tests.agents.racing import race
from tests.api import Api
from tests.days import today
from tests.embeds.making import INSTANCES, an_embed
from tests.factories import CommunityFactory, PersonFactory

pytestmark = pytest.mark.django_db
SITES = "/account/sites/"
NEW = f"{SITES}new/"
IN_PAGE = {"type": "in-page", "position": "bottom-right", "size": "medium", "color": "#2f5bd0", "message": ""}
MODE = 'data-mode="inline"'


def body(response: Any) -> str:
    assert response.status_code == 200
    text: str = response.content.decode()
    return text


def code_of(client: Client, site: Embed, query: str = "") -> str:
    """The line of code on the site's page."""
    found = re.search(r'id="code"[^>]*><code>(.*?)</code>', body(client.get(f"{SITES}{site.pk}/install/{query}")))
    assert found
    return unescape(found[1])


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found
    return unescape(found[1])


def send(client: Client, site: Embed, step: str, **fields: Any) -> Any:
    """Send the form of a step as it was just opened."""
    path = f"{SITES}{site.pk}/{step}"
    return client.post(path, {"opened": hidden(body(client.get(path)), "opened"), **fields})


def in_page_site(owner: Account, **fields: Any) -> Embed:
    return an_embed(owner, trigger_config={"mode": "inline"}, **fields)


@pytest.fixture
def site(person: Account) -> Embed:
    """A site after its first step."""
    return in_page_site(person, name="Harbour Gazette", domain_whitelist=["harbour.example"])


def start(site: Embed, **fields: Any) -> dict[str, Any]:
    form = {"name": site.name, "address": "harbour.example", "community_choice": "existing"}
    return form | {"community": site.community.slug, "shows": "community"} | fields


def test_inline_is_the_first_choice_and_has_its_line_of_code(client: Client) -> None:
    form = {"name": "Gazette", "address": "a.example", "community_choice": "new", "submission": str(uuid4())}
    form["shows"] = "everyone"
    step = client.post(NEW, form)["Location"]
    site = Embed.objects.get()
    page = body(client.get(step))
    choices = re.findall(r'<input type="radio" name="type" value="([^"]+)"[^>]*?( checked)?>', page)
    assert choices == [("in-page", " checked"), ("corner-tab", ""), ("bubble", ""), ("inline", "")]
    assert code_of(client, site, "?new=1").endswith(f" {MODE}></script>")
    assert "into your article" in body(client.get(f"{SITES}{site.pk}/install/?new=1"))
    response = send(client, site, "look/?new=1", **IN_PAGE)
    assert response["Location"] == f"{SITES}{site.pk}/install/?new=1"
    assert MODE in code_of(client, site)


@pytest.mark.parametrize(
    ("kind", "place"), [("corner-tab", "before <code>"), ("bubble", "before <code>"), ("inline", "into the text")]
)
def test_a_trigger_is_stored_and_has_the_line_without_the_mode(
    client: Client, site: Embed, kind: str, place: str, unchanged: Unchanged
) -> None:
    unchanged(in_page_site(site.owner))
    assert send(client, site, "look/?new=1", **IN_PAGE | {"type": kind}).status_code == 302
    site.refresh_from_db()
    assert site.trigger_config == {**IN_PAGE, "type": kind}
    assert "data-mode" not in code_of(client, site)
    assert place in body(client.get(f"{SITES}{site.pk}/install/"))
    assert re.search(rf'value="{kind}"[^>]* checked', body(client.get(f"{SITES}{site.pk}/look/")))
    assert send(client, site, "look/?new=1", **IN_PAGE).status_code == 302
    assert MODE in code_of(client, site)
    site.refresh_from_db()
    assert site.trigger_config == {**IN_PAGE, "type": kind, "mode": "inline"}


def test_what_was_chosen_survives_errors(client: Client, site: Embed) -> None:
    page = body(send(client, site, "look/?new=1", **IN_PAGE | {"type": "bubble", "color": "red", "message": "Mine"}))
    assert re.search(r'value="bubble"[^>]* checked', page)
    assert 'value="Mine"' in page
    assert "Step 2 of 3" in page
    assert 'name="back"' in page
    page = body(send(client, site, "look/?new=1", **IN_PAGE | {"message": "x" * 81, "back": ""}))
    assert re.search(r'value="in-page"[^>]* checked', page)
    assert "x" * 81 in page
    assert MODE in code_of(client, site)


def test_the_way_back_saves_what_was_chosen_and_shows_what_was_typed(
    client: Client, site: Embed, unchanged: Unchanged
) -> None:
    unchanged(an_embed(site.owner), site.community)
    assert f'href="{SITES}{site.pk}/look/?new=1"' in body(client.get(f"{SITES}{site.pk}/install/?new=1"))
    back = send(client, site, "look/?new=1", **IN_PAGE | {"type": "bubble", "message": "Mine", "back": ""})
    assert back["Location"] == f"{SITES}{site.pk}/start/?new=1"
    site.refresh_from_db()
    assert (site.trigger_config["type"], site.trigger_config["message"]) == ("bubble", "Mine")
    page = body(client.get(back["Location"]))
    assert "Step 1 of 3" in page
    for value in ("Harbour Gazette", "harbour.example", site.community.slug):
        assert f'value="{value}"' in page
    before = Community.objects.count()
    changed = start(site, name="Harbour News", address="https://www.news.example:8080/x")
    response = send(client, site, "start/?new=1", **changed)
    assert response["Location"] == f"{SITES}{site.pk}/look/?new=1"
    site.refresh_from_db()
    assert (site.name, site.domain_whitelist) == ("Harbour News", ["news.example:8080"])
    assert site.trigger_config["message"] == "Mine"
    assert (Embed.objects.count(), Community.objects.count()) == (2, before)


def test_the_first_step_again_changes_nothing_else(client: Client, site: Embed, person: Account) -> None:
    update_embed(embed_id=site.pk, owner=person, domain_whitelist=["*.old.example", "old.example", "more.example"])
    other = CommunityFactory(slug="other")
    assert 'value="old.example"' in body(client.get(f"{SITES}{site.pk}/start/"))
    fields = start(site, address="new.example", community="other", shows="everyone")
    assert send(client, site, "start/", **fields).status_code == 302
    site.refresh_from_db()
    assert site.domain_whitelist == ["new.example", "*.old.example", "more.example"]
    assert (site.community, site.shows) == (other, "everyone")
    before = site.updated_at
    assert send(client, site, "start/", **start(site, address="new.example", shows="everyone")).status_code == 302
    site.refresh_from_db()
    assert site.updated_at == before


@pytest.mark.parametrize(
    "fields",
    [
        *({"name": name} for name in ("", "x" * 121, "\u202eevil")),
        *({"address": address} for address in ("", "no address", "ftp://a.example", "https://" + "a" * 2_100)),
        *({"community": community} for community in ("", "unknown")),
        {"community_choice": "other"},
        {"shows": ""},
        {"shows": "nobody"},
    ],
)
def test_a_first_step_that_is_not_valid_changes_nothing(client: Client, site: Embed, fields: dict[str, str]) -> None:
    page = body(send(client, site, "start/?new=1", **start(site, **fields)))
    assert "errorlist" in page
    after = Embed.objects.select_related("community").get(pk=site.pk)
    assert (after.updated_at, after.community) == (site.updated_at, site.community)


def press_start(account: Account, site: Embed, form: dict[str, Any]) -> Any:
    client = Client()
    client.force_login(account)
    return client.post(f"{SITES}{site.pk}/start/?new=1", form)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_at_once", [True, False])
def test_a_community_of_ones_own_is_created_once_on_the_way_back(is_at_once: bool) -> None:
    owner = PersonFactory()
    site = in_page_site(owner, name="Harbour Gazette", domain_whitelist=["harbour.example"])
    client = Client()
    client.force_login(owner)
    opened = hidden(body(client.get(f"{SITES}{site.pk}/start/?new=1")), "opened")
    form = start(site, community_choice="new", community="", opened=opened)
    if is_at_once:
        answers = race(2, lambda _number: press_start(owner, site, form))
    else:
        answers = [press_start(owner, site, form) for _ in range(2)]
    assert sorted(answer.status_code for answer in answers) == [200, 302]
    assert any("changed elsewhere" in answer.content.decode() for answer in answers)
    made = Community.objects.get(created_by=owner)
    assert Embed.objects.get(pk=site.pk).community == made
    assert f'value="{made.slug}"' in body(client.get(f"{SITES}{site.pk}/start/"))


def test_other_people_have_no_first_step_of_a_site(client: Client, site: Embed, unchanged: Unchanged) -> None:
    unchanged(other := in_page_site(PersonFactory()))
    for stranger_path in (f"{SITES}{other.pk}/start/", f"{SITES}{uuid4()}/start/"):
        assert client.get(stranger_path).status_code == 404
        assert client.post(stranger_path, start(site)).status_code == 404


def test_another_code_is_told_after_a_change_of_the_look(client: Client, site: Embed) -> None:
    for kind, has_new_code in (("bubble", True), ("corner-tab", False), ("in-page", True), ("in-page", False)):
        response = send(client, site, "look/", **IN_PAGE | {"type": kind})
        assert response["Location"] == f"{SITES}{site.pk}/{'install' if has_new_code else 'look'}/", kind
        assert ("replace it on your pages" in body(client.get(response["Location"]))) is has_new_code, kind


def test_the_code_of_the_api_is_that_of_the_site_until_it_chooses_another_trigger(site: Embed) -> None:
    owner, path = Api.as_signed_in(site.owner), f"{INSTANCES}/{site.pk}"
    record = owner.get(path).json
    assert MODE in record["embedCode"]
    assert "mode" not in record["triggerConfig"]
    same = owner.put(path, {"triggerConfig": record["triggerConfig"] | {"color": "#112233", "mode": "panel"}})
    assert (same.status, same.json["embedCode"]) == (200, record["embedCode"])
    assert "data-mode" not in owner.put(path, {"triggerConfig": {"type": "bubble"}}).json["embedCode"]
    made = create_embed(owner=site.owner, name="By the API", community_id=site.community_id)
    assert not made.is_inline


def test_the_comparison_of_the_code_tells_a_missing_mode(site: Embed, settings: Any) -> None:
    codes = [embed_code(app_url=settings.APP_URL, embed_id=site.pk, is_inline=mode) for mode in (True, False)]
    assert faults_of_code(codes[0], site) == []
    assert faults_of_code(codes[1], site) == ["data-mode is –; it should be inline"]
    # A page may show the discussion although the site has a trigger elsewhere.
    panel = an_embed(site.owner)
    assert faults_of_code(embed_code(app_url=settings.APP_URL, embed_id=panel.pk, is_inline=True), panel) == []


def test_a_discussion_in_the_page_is_viewed_with_the_page(site: Embed) -> None:
    for event, number in (("embed_load", 40), ("panel_open", 10)):
        DailyCount.objects.create(embed_id=site.pk, day=today(), path="/", event=event, count=number)
    shown = Numbers(site, days=7, today=today())
    assert [(step.count, step.share) for step in shown.funnel] == [(40, None), (10, 25), (0, 0)]
    assert [figure.now for figure in shown.figures][:2] == [40, 10]
    update_embed(embed_id=site.pk, owner=site.owner, trigger_config={"mode": "panel"})
    site.refresh_from_db()
    assert [step.count for step in Numbers(site, days=7, today=today()).funnel] == [0, 10, 0]


def test_the_preview_begins_as_the_site_is(client: Client, site: Embed) -> None:
    assert MODE in body(client.get(f"{SITES}{site.pk}/preview/"))
    assert MODE not in body(client.get(f"{SITES}{an_embed(site.owner).pk}/preview/"))
