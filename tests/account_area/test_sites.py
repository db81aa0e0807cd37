"""The list of one's sites, a new site, its state."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client

from embeds.models import Embed, EmbedStatus
from embeds.services import disable_embed
from messaging.models import Account, Community, Moderator
from messaging.services.communities import create_community
from tests.embeds.making import UNKNOWN_ID, an_embed, send
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
SITES = "/account/sites/"
NEW = f"{SITES}new/"
READ = ("", "install/", "seen/", "look/", "preview/", "pages/", "words/", "settings/", "delete/", "numbers.csv")
POSTED = ("install/", "allow/", "look/", "pages/", "words/", "settings/", "pause/", "resume/", "delete/")


def body(response: Any) -> str:
    text: str = response.content.decode()
    return text


def sent(**fields: Any) -> dict[str, Any]:
    form = {"name": "Harbour Gazette", "address": "https://www.Harbour.example/news", "community_choice": "new"}
    return form | {"submission": str(uuid4())} | fields


def test_the_list_has_the_sites_of_the_person_with_their_posts(client: Client, person: Account) -> None:
    site = an_embed(person, name="Mine <b>", domain_whitelist=["mine.example"])
    an_embed(name="Of another person")
    send(site, "post_created", datetime.now(UTC))
    shown = body(client.get(SITES))
    assert "Mine &lt;b&gt;" in shown
    assert "Of another person" not in shown
    assert "1 post in 7 days" in shown
    assert "mine.example" in shown


def test_without_a_site_the_list_offers_to_add_one(client: Client) -> None:
    assert NEW in body(client.get(SITES))


def test_a_deleted_site_is_not_listed(client: Client, person: Account) -> None:
    site = an_embed(person, name="Short-lived")
    assert client.post(f"{SITES}{site.pk}/delete/").status_code == 302
    assert "“Short-lived” is deleted" in body(client.get(SITES))
    assert "Short-lived" not in body(client.get(SITES))
    assert client.get(f"{SITES}{site.pk}/").status_code == 404


def test_lists_and_pages_need_a_fixed_number_of_queries(
    client: Client, person: Account, django_assert_num_queries: Any
) -> None:
    site = an_embed(person)
    counts = {
        SITES: 8,
        NEW: 5,
        f"{SITES}{site.pk}/": 10,
        f"{SITES}{site.pk}/install/": 5,
        f"{SITES}{site.pk}/pages/": 4,
    }
    for path, count in counts.items():
        with django_assert_num_queries(count):
            assert client.get(path).status_code == 200
    for number in range(25):
        an_embed(person, name=f"Site {number}")
    for path, count in counts.items():
        with django_assert_num_queries(count):
            assert client.get(path).status_code == 200
    assert body(client.get(SITES)).count('class="site-row"') == 20
    assert body(client.get(f"{SITES}?page=2")).count('class="site-row"') == 6


def test_a_new_site_has_the_domain_of_its_address_and_a_community_of_its_own(client: Client, person: Account) -> None:
    response = client.post(NEW, sent())
    site = Embed.objects.get()
    assert response["Location"] == f"{SITES}{site.pk}/look/?new=1"
    assert (site.name, site.owner, site.domain_whitelist) == ("Harbour Gazette", person, ["harbour.example"])
    assert (site.community.name, site.community.created_by) == ("Harbour Gazette", person)
    assert Moderator.objects.filter(community=site.community, account=person).exists()


@pytest.mark.parametrize(
    ("address", "entry"),
    [
        ("harbour.example", "harbour.example"),
        ("http://blog.harbour.example:8080/x?y", "blog.harbour.example:8080"),
        ("localhost:3000", "localhost:3000"),
        ("https://b\u00fccher.example", "xn--bcher-kva.example"),
    ],
)
def test_an_address_gives_the_domain(client: Client, address: str, entry: str) -> None:
    client.post(NEW, sent(address=address))
    assert Embed.objects.get().domain_whitelist == [entry]


@pytest.mark.parametrize("named_by", ["slug", "name"])
def test_a_new_site_may_have_a_community_that_exists(client: Client, named_by: str) -> None:
    community = CommunityFactory(name="The Harbour", slug="harbour")
    client.post(NEW, sent(community_choice="existing", community=getattr(community, named_by)))
    assert Embed.objects.get().community == community


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": "x" * 121},
        {"name": "\u202eevil"},
        {"address": ""},
        {"address": "no address"},
        {"address": "ftp://harbour.example"},
        {"address": "https://" + "a" * 2_100},
        {"community_choice": "existing", "community": ""},
        {"community_choice": "existing", "community": "unknown"},
        {"community_choice": "other"},
        {"submission": ""},
        {"submission": "x"},
    ],
)
def test_a_form_that_is_not_valid_creates_nothing_and_says_so(client: Client, fields: dict[str, str]) -> None:
    response = client.post(NEW, sent(**fields))
    assert response.status_code == 200
    assert "errorlist" in body(response)
    assert not Embed.objects.exists()
    assert not Community.objects.exists()


def test_a_name_of_two_communities_has_to_be_chosen_of_the_list(client: Client) -> None:
    CommunityFactory(name="Twice"), CommunityFactory(name="Twice")
    response = client.post(NEW, sent(community_choice="existing", community="Twice"))
    assert "Several communities have this name" in body(response)


def test_a_name_that_is_the_slug_of_another_is_that_of_the_own_community(client: Client, person: Account) -> None:
    taken = CommunityFactory(name="News", slug="news")
    client.post(NEW, sent(community_choice="existing", community="News"))
    assert Embed.objects.get().community == taken
    own = create_community(owner=person, name="News")
    client.post(NEW, sent(community_choice="existing", community="News"))
    assert Embed.objects.latest("created_at").community == own
    CommunityFactory(name="Tides", slug="tides"), CommunityFactory(name="Tides")
    response = client.post(NEW, sent(community_choice="existing", community="Tides"))
    assert "Several communities have this name" in body(response)
    client.post(NEW, sent(community_choice="existing", community="tides"))
    assert Embed.objects.latest("created_at").community.slug == "tides"


def test_the_sixth_community_is_refused_in_the_form(client: Client) -> None:
    for _ in range(5):
        assert client.post(NEW, sent()).status_code == 302
    response = client.post(NEW, sent())
    assert "as many communities" in body(response)
    assert Embed.objects.count() == 5


def test_where_communities_are_not_created_one_that_exists_is_asked_for(client: Client, settings: Any) -> None:
    settings.COMMUNITY_CREATION = "closed"
    community = CommunityFactory()
    assert "community_choice" not in body(client.get(NEW))
    assert client.post(NEW, sent(community=community.slug)).status_code == 302
    assert Embed.objects.get().community == community


def test_a_second_press_goes_to_the_site_of_the_first(client: Client) -> None:
    form = sent()
    locations = {client.post(NEW, form)["Location"] for _ in range(2)}
    assert len(locations) == 1
    assert Embed.objects.count() == Community.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_presses_at_once_create_one_site() -> None:
    account, form, locations = PersonFactory(), sent(), []
    barrier = threading.Barrier(2)

    def press() -> None:
        client = Client()
        client.force_login(account)
        barrier.wait()
        locations.append(client.post(NEW, form)["Location"])
        connection.close()

    threads = [threading.Thread(target=press) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(locations)) == 1
    assert (Embed.objects.count(), len(locations)) == (1, 2)


def test_an_owner_pauses_and_resumes(client: Client, person: Account) -> None:
    site = an_embed(person)
    client.post(f"{SITES}{site.pk}/pause/")
    assert Embed.objects.get().status == EmbedStatus.PAUSED
    assert "Paused" in body(client.get(f"{SITES}{site.pk}/"))
    client.post(f"{SITES}{site.pk}/resume/")
    assert Embed.objects.get().status == EmbedStatus.ACTIVE


def test_an_owner_cannot_resume_what_a_super_admin_disabled(client: Client, person: Account) -> None:
    site = an_embed(person)
    disable_embed(embed_id=site.pk, by=SuperAdminFactory())
    response = client.post(f"{SITES}{site.pk}/resume/")
    assert response.status_code == 403
    assert "An administrator disabled this site" in body(response)
    assert Embed.objects.get().status == EmbedStatus.DISABLED


def test_get_changes_nothing(client: Client, person: Account) -> None:
    site = an_embed(person)
    assert {client.get(f"{SITES}{site.pk}/{name}/").status_code for name in ("pause", "resume", "allow")} == {405}
    assert "The posts stay" in body(client.get(f"{SITES}{site.pk}/delete/"))
    assert Embed.objects.live().get().status == EmbedStatus.ACTIVE


@pytest.mark.parametrize("make", [PersonFactory, SuperAdminFactory])
@pytest.mark.parametrize("site", ["another's", "unknown", "deleted"])
def test_the_site_of_another_person_does_not_exist(make: Any, site: str) -> None:
    account, owner = make(), PersonFactory()
    embed = an_embed(owner)
    if site == "deleted":
        embed = an_embed(account)
        Embed.objects.filter(pk=embed.pk).update(deleted_at=datetime.now(UTC))
    client = Client()
    client.force_login(account)
    key = UNKNOWN_ID if site == "unknown" else embed.pk
    assert {client.get(f"{SITES}{key}/{path}").status_code for path in READ} == {404}
    assert {client.post(f"{SITES}{key}/{path}", {"host": "a.example"}).status_code for path in POSTED} == {404}
    embed.refresh_from_db()
    assert embed.status == EmbedStatus.ACTIVE


def test_without_a_session_every_page_leads_to_the_sign_in() -> None:
    site = an_embed()
    for path in (SITES, NEW, *(f"{SITES}{site.pk}/{name}" for name in READ)):
        response = Client().get(path)
        assert (response.status_code, response["Location"].partition("?")[0]) == (302, "/account/sign-in/"), path


def test_a_form_without_the_token_of_its_page_is_refused(person: Account) -> None:
    site = an_embed(person)
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)
    assert client.post(f"{SITES}{site.pk}/pause/").status_code == 403
    assert Embed.objects.get().status == EmbedStatus.ACTIVE


def test_no_page_is_over_100_kilobytes(client: Client, person: Account) -> None:
    site = an_embed(person, domain_whitelist=[f"site-{number}.example" for number in range(1_000)])
    for _ in range(60):
        CommunityFactory()
    for name in (name for name in READ if not name.endswith("csv")):
        assert len(client.get(f"{SITES}{site.pk}/{name}").content) < 100_000, name
    assert len(client.get(f"{SITES}{site.pk}/?days=90").content) < 100_000
