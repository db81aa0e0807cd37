"""The list of one's sites, a new site, its state and its numbers."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from account_area.sites.numbers import Numbers
from embeds.analytics.summary import posts_by_day
from embeds.models import DailyCount, Embed, EmbedStatus, Shows
from embeds.services import disable_embed
from messaging.communities.services import create_community
from messaging.models import Account, Community, Moderator
from tests.admin.bystanders import Unchanged
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.days import today
from tests.embeds.making import UNKNOWN_ID, an_embed, send
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
SITES = "/account/sites/"
NEW = f"{SITES}new/"
STEPS = ("start/", "install/", "look/")
READ = ("", *STEPS, "seen/", "preview/", "pages/", "words/", "accounts/", "settings/", "delete/", "numbers.csv")
POSTED = (*STEPS, "allow/", "pages/", "words/", "settings/", "pause/", "resume/", "delete/")
POSTED += ("accounts/", "accounts/secret/", "accounts/secret/end/")


def body(response: Any) -> str:
    text: str = response.content.decode()
    return text


def sent(**fields: Any) -> dict[str, Any]:
    form = {
        "name": "Harbour Gazette",
        "address": "https://www.Harbour.example/news",
        "community_choice": "new",
        "shows": "community",
    }
    return form | {"submission": str(uuid4())} | fields


def test_the_list_has_the_sites_of_the_person_with_their_posts(client: Client, person: Account) -> None:
    assert NEW in body(client.get(SITES))
    site = an_embed(person, name="Mine <b>", domain_whitelist=["mine.example"])
    an_embed(name="Of another person")
    send(site, "post_created", datetime.now(UTC))
    shown = body(client.get(SITES))
    assert "Mine &lt;b&gt;" in shown
    assert "Of another person" not in shown
    assert "1 post in 7 days" in shown
    assert "mine.example" in shown


def test_the_pages_say_what_is(client: Client, person: Account) -> None:
    holder = agent_with_token(requester=person)
    site = an_embed(person)
    look, own = (body(client.get(f"{SITES}{site.pk}/{page}")) for page in ("look/", ""))
    assert re.findall(r"<(?:legend|label[^>]*)>(Style|Button text)<", look) == ["Style", "Button text"]
    assert "Analytics · " in own
    assert '<span class="badge good">Active</span>' in body(client.get(SITES))
    assert body(client.get(f"/account/agents/{holder.account.handle}/")).count(">Active</span>") > 0
    assert '<a href="/account/me/">Settings</a>' in own
    for text in (look, own, body(client.get("/account/me/")), body(client.get("/account/agents/"))):
        assert not re.search(r">\s*(Form|Words of|Numbers|Myself|Keep|Works)\s*<", text)


def test_a_deleted_site_is_not_listed(client: Client, person: Account, unchanged: Unchanged) -> None:
    site = an_embed(person, name="Short-lived")
    unchanged(an_embed(person, name="Long-lived"))
    assert client.post(f"{SITES}{site.pk}/delete/").status_code == 302
    assert "“Short-lived” is deleted" in body(client.get(SITES))
    shown = body(client.get(SITES))
    assert ("Short-lived" in shown, "Long-lived" in shown) == (False, True)
    assert client.get(f"{SITES}{site.pk}/").status_code == 404


def test_lists_and_pages_need_a_fixed_number_of_queries(
    client: Client, person: Account, django_assert_num_queries: Any
) -> None:
    site = an_embed(person)
    own = f"{SITES}{site.pk}/"
    counts = {SITES: 10, NEW: 5, own: 12, f"{own}install/": 7, f"{own}pages/": 5}
    for number in (0, 25):
        for _ in range(number):
            an_embed(person)
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


def test_an_address_gives_the_domain(client: Client) -> None:
    for address, entry in (
        ("harbour.example", "harbour.example"),
        ("http://blog.harbour.example:8080/x?y", "blog.harbour.example:8080"),
        ("localhost:3000", "localhost:3000"),
        ("https://b\u00fccher.example", "xn--bcher-kva.example"),
    ):
        client.post(NEW, sent(address=address))
        assert Embed.objects.latest("created_at").domain_whitelist == [entry]


def test_the_owner_of_a_new_site_decides_what_it_shows(client: Client) -> None:
    page = body(client.get(NEW))
    assert re.findall(r'name="shows" value="(\w+)"[^>]*?( checked)?>', page) == [
        ("community", " checked"),
        ("everyone", ""),
    ]
    for shows in Shows.values:
        client.post(NEW, sent(shows=shows))
        assert Embed.objects.latest("created_at").shows == shows


@pytest.mark.parametrize("named_by", ["slug", "name"])
def test_a_new_site_may_have_a_community_that_exists(client: Client, named_by: str) -> None:
    community = CommunityFactory(name="The Harbour", slug="harbour")
    client.post(NEW, sent(community_choice="existing", community=getattr(community, named_by)))
    assert Embed.objects.get().community == community


def test_a_form_that_is_not_valid_creates_nothing_and_says_so(client: Client) -> None:
    addresses = ("", "no address", "ftp://harbour.example", "https://" + "a" * 2_100)
    for fields in (
        *({"name": name} for name in ("", "x" * 121, "\u202eevil")),
        *({"address": address} for address in addresses),
        *({"community_choice": "existing", "community": community} for community in ("", "unknown")),
        *({"community_choice": "other"}, {"submission": ""}, {"submission": "x"}, {"shows": ""}, {"shows": "nobody"}),
    ):
        response = client.post(NEW, sent(**fields))
        assert (response.status_code, "errorlist" in body(response)) == (200, True), fields
    assert not Embed.objects.exists()
    assert not Community.objects.exists()


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
    account, form = PersonFactory(), sent()

    def press(_number: int) -> str:
        client = Client()
        client.force_login(account)
        return str(client.post(NEW, form)["Location"])

    assert len(set(race(2, press))) == 1
    assert Embed.objects.count() == 1


def test_an_owner_pauses_and_resumes(client: Client, person: Account, unchanged: Unchanged) -> None:
    site, paused = an_embed(person), an_embed(person)
    client.post(f"{SITES}{paused.pk}/pause/")
    unchanged(an_embed(person), paused)
    assert "The widget is gone from your pages." in body(client.post(f"{SITES}{site.pk}/pause/", follow=True))
    site.refresh_from_db()
    assert site.status == EmbedStatus.PAUSED
    assert "Paused" in body(client.get(f"{SITES}{site.pk}/"))
    client.post(f"{SITES}{site.pk}/resume/")
    site.refresh_from_db()
    assert site.status == EmbedStatus.ACTIVE


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
def test_a_site_of_another_person_a_deleted_and_an_unknown_one_do_not_exist(make: Any, unchanged: Unchanged) -> None:
    account, client = make(), Client()
    client.force_login(account)
    other, deleted = an_embed(), an_embed(account)
    Embed.objects.filter(pk=deleted.pk).update(deleted_at=datetime.now(UTC))
    unchanged(other, deleted)
    for key in (other.pk, deleted.pk, UNKNOWN_ID):
        assert {client.post(f"{SITES}{key}/{path}", {"host": "a.example"}).status_code for path in POSTED} == {404}
    for key in (deleted.pk, UNKNOWN_ID):
        assert {client.get(f"{SITES}{key}/{path}").status_code for path in READ} == {404}


def test_no_page_is_over_100_kilobytes(client: Client, person: Account) -> None:
    site = an_embed(person, domain_whitelist=[f"site-{number}.example" for number in range(1_000)])
    for _ in range(60):
        CommunityFactory()
    for name in (name for name in READ if not name.endswith("csv")):
        assert len(client.get(f"{SITES}{site.pk}/{name}").content) < 100_000, name
    assert len(client.get(f"{SITES}{site.pk}/?days=90").content) < 100_000


@pytest.fixture
def site(person: Account) -> Embed:
    return an_embed(person)


def count(site: Embed, event: str, number: int, *, days_ago: int = 0, path: str = "/") -> None:
    day = today() - timedelta(days=days_ago)
    DailyCount.objects.create(embed_id=site.pk, day=day, path=path, event=event, count=number)


def test_figures_compare_with_the_period_before(site: Embed) -> None:
    count(site, "trigger_view", 30, days_ago=6)
    count(site, "trigger_view", 20, days_ago=7)
    count(site, "panel_open", 5, days_ago=13)
    count(site, "post_created", 1)
    count(site, "reply_created", 2)
    count(site, "trigger_view", 1_000, days_ago=14)
    views, opens, posts, _visitors = Numbers(site, days=7, today=today()).figures
    assert (views.now, views.before, views.change) == (30, 20, 50)
    assert (opens.now, opens.before, opens.change) == (0, 5, -100)
    assert (posts.now, posts.before, posts.change) == (3, 0, None)


def test_the_funnel_has_the_share_of_the_step_before_unless_it_exceeds_that(site: Embed) -> None:
    count(site, "panel_open", 50)
    assert [step.share for step in Numbers(site, days=7, today=today()).funnel] == [None, None, 0]
    count(site, "trigger_view", 200)
    steps = Numbers(site, days=7, today=today()).funnel
    assert [(step.count, step.share, step.width) for step in steps] == [(200, None, 100), (50, 25, 25), (0, 0, 0)]


def test_raw_and_counted_events_are_added(site: Embed) -> None:
    count(site, "post_created", 2)
    send(site, "reply_created", datetime.now(UTC))
    send(site, "trigger_view", datetime.now(UTC))
    assert posts_by_day(embed_ids=[site.pk, an_embed().pk], first=today(), last=today()) == {site.pk: {today(): 3}}
    assert posts_by_day(embed_ids=[], first=today(), last=today()) == {}


def test_the_page_has_a_plot_with_a_table_for_each_step(client: Client, site: Embed) -> None:
    page = client.get(f"{SITES}{site.pk}/").content.decode()
    assert "No visits in this period" in page
    assert "Waiting for the first visit." in page
    count(site, "trigger_view", 3)
    for days, shown in (("7", 7), ("90", 90), ("30", 30), ("", 30), ("8", 30), ("x", 30)):
        page = client.get(f"{SITES}{site.pk}/", {"days": days}).content.decode()
        assert (page.count('<figure class="plot">'), page.count("<rect x=")) == (3, 3 * shown), days


def test_top_pages_are_the_busiest_and_paths_are_text(client: Client, site: Embed) -> None:
    count(site, "trigger_view", 5, path="/<script>")
    for number in range(30):
        count(site, "trigger_view", 10 + number, path=f"/page-{number}")
    page = client.get(f"{SITES}{site.pk}/").content.decode()
    assert page.index("/page-29") < page.index("/page-28")
    assert "/page-9<" not in page
    assert "<script>" not in page


def rows(response: Any) -> list[list[str]]:
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(response.content.decode())))


def test_tables_have_the_days_or_the_pages_and_no_formula(client: Client, site: Embed) -> None:
    count(site, "trigger_view", 5, path="＝1")
    days = rows(client.get(f"{SITES}{site.pk}/numbers.csv?days=7"))
    assert len(days) == 8
    assert days[-1][0] == today().isoformat()
    assert days[-1][days[0].index("trigger_view")] == "5"
    response = client.get(f"{SITES}{site.pk}/numbers.csv?by=pages")
    assert "attachment" in response["Content-Disposition"]
    assert rows(response)[1][:3] == ["'＝1", "0", "5"]
