"""The code of a site, whether it was seen, and the check-up of a page."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client
from hypothesis import example, given
from hypothesis import strategies as st

from account_area.sites.checks import CODE_MAX, faults_of_code
from embeds import page_loads
from embeds.models import Embed, Sighting
from embeds.services import update_embed
from messaging.models import Account, Moderator
from tests.admin.bystanders import Unchanged
from tests.api import Api
from tests.embeds.making import EVENTS, UNKNOWN_ID, an_embed
from tests.factories import MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db
SITES = "/account/sites/"
APP = "https://app.example"
SHOP = "https://shop.example"


@pytest.fixture(autouse=True)
def _written_at_once(settings: Any) -> None:
    settings.SIGHTING_SECONDS = 0
    settings.APP_URL = APP
    page_loads._noted.clear()
    page_loads._written.clear()


@pytest.fixture
def site(person: Account) -> Embed:
    return an_embed(person, domain_whitelist=["site.example"])


def load(site: Embed, origin: str = "https://site.example") -> None:
    Api().get(f"/api/embeds/config/{site.pk}", headers={"Origin": origin})


def seen(client: Client, site: Embed) -> tuple[str, str]:
    answer = client.get(f"{SITES}{site.pk}/seen/").json()
    return answer["state"], answer["sentence"]


def install(client: Client, site: Embed, **query: str) -> str:
    return client.get(f"{SITES}{site.pk}/install/", query).content.decode()


def test_the_page_has_the_code_and_the_sources_of_a_policy(client: Client, site: Embed) -> None:
    page = install(client, site)
    assert f"{APP}/embed/v1.js&quot; data-service-id=&quot;{site.pk}&quot;" in page
    for directive in ("script-src", "connect-src", "frame-src"):
        assert f"{directive} {APP};" in page


def test_the_first_visit_is_told_with_its_page(client: Client, site: Embed) -> None:
    assert seen(client, site)[0] == "waiting"
    load(site)
    assert seen(client, site) == ("seen", "We have seen your widget on site.example.")
    body = {"serviceId": str(site.pk), "event": "embed_load", "pageUrl": "https://site.example/blog"}
    Api().post(EVENTS, body)
    assert seen(client, site) == ("seen", "We have seen your widget on site.example/blog.")
    assert "Last seen:" in client.get(SITES).content.decode()


def test_a_refused_domain_is_told_and_can_be_added(client: Client, site: Embed, unchanged: Unchanged) -> None:
    unchanged(an_embed(site.owner))
    load(site)
    load(site, "https://shop.example:8443")
    assert seen(client, site)[0] == "refused"
    assert "Add shop.example:8443 to the domains of the site" in install(client, site)
    response = client.post(f"{SITES}{site.pk}/allow/?new=1", {"host": "shop.example:8443"})
    assert response["Location"] == f"{SITES}{site.pk}/install/?new=1"
    site.refresh_from_db()
    assert site.domain_whitelist == ["site.example", "shop.example:8443"]
    assert "shop.example:8443 is one of the domains of the site now." in install(client, site)
    load(site, "https://shop.example:8443")
    assert seen(client, site) == ("seen", "We have seen your widget on shop.example:8443.")


@pytest.mark.parametrize(
    ("lists", "origin", "sentence", "offered"),
    [
        (
            {"domain_blacklist": ["*.example"]},
            SHOP,
            "your entry *.example refuses this domain.",
            False,
        ),
        ({}, SHOP, "it is not one of the domains of the site.", True),
        ({"domain_whitelist": []}, SHOP, "but your domains allow it now.", False),
        ({}, "null", "A page without a domain, such as a file, asked for the widget.", False),
        ({"domain_whitelist": []}, "null", "but your domains allow it now.", False),
    ],
)
def test_a_refused_page_is_told_the_rule_that_refuses_it(
    client: Client, site: Embed, person: Account, lists: dict[str, Any], origin: str, sentence: str, offered: bool
) -> None:
    load(site, origin)
    update_embed(embed_id=site.pk, owner=person, **lists)
    state, said = seen(client, site)
    assert (state, sentence in said) == ("refused", True), said
    page = install(client, site)
    assert (said in unescape(page), "to the domains of the site</button>" in page) == (True, offered)
    assert said in unescape(client.get(f"{SITES}{site.pk}/").content.decode())
    assert "Refused on its pages" in client.get(SITES).content.decode()


def test_a_site_with_visits_is_not_called_unseen(client: Client, site: Embed) -> None:
    other = an_embed(site.owner)
    for address, words in ((f"{SITES}{site.pk}/", "Waiting for the first visit."), (SITES, "Not seen yet")):
        assert words in client.get(address).content.decode()
    load(site)
    assert "Waiting" not in client.get(f"{SITES}{site.pk}/").content.decode()
    Api().post(EVENTS, {"serviceId": str(site.pk), "event": "embed_load", "pageUrl": "https://site.example/"})
    Sighting.objects.all().delete()
    assert seen(client, site) == ("lost", "We have not seen your widget in the last 30 days.")
    assert "not seen your widget in the last 30 days" in client.get(f"{SITES}{site.pk}/").content.decode()
    listed = client.get(SITES).content.decode()
    assert (listed.count("Not seen for 30 days"), listed.count("Not seen yet")) == (1, 1)
    assert seen(client, other)[0] == "waiting"


def test_a_page_that_was_seen_over_http_is_called_so(client: Client, site: Embed) -> None:
    post = MessageFactory(community=site.community, page__url="https://site.example/a", author=site.owner)
    MessageFactory(page__url="https://site.example/b", author=site.owner)
    Moderator.objects.get_or_create(community=site.community, account=site.owner)
    queue = f"/account/communities/{site.community.slug}/moderation/?state=recent"
    places = [queue, "/account/me/posts/", f"{SITES}{site.pk}/posts/?state=recent"]
    load(site, "http://site.example")
    assert seen(client, site) == ("seen", "We have seen your widget on http://site.example.")
    assert 'data-page-url="http://site.example/"' in client.get(f"{SITES}{site.pk}/preview/").content.decode()
    for place in places:
        page = client.get(place).content.decode()
        assert f'href="http://{post.page.normalized_url.removeprefix("https://")}' in page, place
        assert "http://site.example/b" not in page, place
    # Neither a stranger's widget nor one of another community tells.
    Moderator.objects.filter(account=site.owner).update(account=PersonFactory())
    assert "http://site.example" not in client.get("/account/me/posts/").content.decode()
    Moderator.objects.update(account=site.owner)
    page_loads._written.clear()
    load(site)
    assert seen(client, site) == ("seen", "We have seen your widget on site.example.")
    for place in places:
        assert "http://site.example" not in client.get(place).content.decode(), place


def test_a_host_that_other_entries_decide_by_now_is_not_added(client: Client, site: Embed, person: Account) -> None:
    allowed = "The widget is allowed on shop.example already: nothing was added."
    refused = "Not shown on shop.example: your entry {} refuses this domain."
    for whitelist, blacklist, sentence in (
        ([], [], allowed),
        (["*.example"], [], allowed),
        (["shop.example"], [], "shop.example is one of the domains of the site now."),
        ([], ["shop.example"], refused.format("shop.example")),
        (["site.example"], ["*.example"], refused.format("*.example")),
    ):
        update_embed(embed_id=site.pk, owner=person, domain_whitelist=whitelist, domain_blacklist=blacklist)
        page = client.post(f"{SITES}{site.pk}/allow/", {"host": "shop.example"}, follow=True).content.decode()
        assert sentence in page
        site.refresh_from_db()
        assert site.domain_whitelist == whitelist


def test_only_a_host_can_be_added(client: Client, site: Embed) -> None:
    for host in ("", "a b", "null;", "x" * 400):
        assert client.post(f"{SITES}{site.pk}/allow/", {"host": host}).status_code == 400, host
    site.refresh_from_db()
    assert site.domain_whitelist == ["site.example"]


def test_a_domain_that_the_owner_refuses_is_not_offered(client: Client, site: Embed, person: Account) -> None:
    update_embed(embed_id=site.pk, owner=person, domain_blacklist=["bad.example"])
    load(site, "https://bad.example")
    load(site, "null")
    assert "to the domains of the site</button>" not in install(client, site)
    assert "a page without a domain" in install(client, site)


def test_the_check_up_says_which_rule_decides(client: Client, site: Embed, person: Account) -> None:
    every, cart = {"type": "all"}, {"type": "exclude", "patterns": ["/cart*"]}
    some: dict[str, Any] = {"type": "patterns", "patterns": ["/a", "/blog/*"]}
    for rules, address, sentence in (
        (every, "site.example", "/: shown, as on all pages."),
        (some, "https://www.site.example/blog/x", "rule 2 matches: /blog/*"),
        (some, "https://site.example/b", "/b: not shown, because no rule matches it."),
        (cart, "site.example/cart", "/cart: not shown, because rule 1 matches"),
        (cart, "site.example/x", "/x: shown, because no rule excludes it."),
        (every, "other.example", "Not shown: other.example is not one of the domains of the site."),
        (every, "nonsense nonsense", "Write the address of a web page"),
    ):
        update_embed(embed_id=site.pk, owner=person, page_rules=rules)
        assert sentence in install(client, site, address=address)
        assert sentence in client.get(f"{SITES}{site.pk}/pages/", {"address": address}).content.decode()
    client.post(f"{SITES}{site.pk}/pause/")
    assert "Not shown: this site is paused." in install(client, site, address="site.example")


def test_the_check_up_knows_where_the_widget_was_seen(client: Client, site: Embed, settings: Any) -> None:
    settings.APP_URL = "http://app.example"
    page = install(client, site, address="https://site.example/")
    assert "the code may be missing" in page
    assert "If the page is https" in page
    load(site, "https://www.site.example")
    assert "seen the widget on www.site.example, but not on this" in install(client, site, address="site.example")
    load(site)
    assert "may be missing" not in install(client, site, address="site.example")


def code(site: Embed, **attributes: str) -> str:
    given = {"async": "", "src": f"{APP}/embed/v1.js", "data-service-id": str(site.pk)} | attributes
    return "<script " + " ".join(f'{name}="{value}"' for name, value in given.items()) + "></script>"


def test_the_code_of_a_page_is_compared(client: Client, site: Embed) -> None:
    page = client.post(f"{SITES}{site.pk}/install/", {"html": f"<html>{code(site)}"}).content.decode()
    assert "The code is right." in page
    assert faults_of_code("<p>none", site) == ["The code is not in this text. Copy it again, and paste all of it."]
    assert faults_of_code(code(site) * 2, site) == ["The code is there more than once. Once is enough."]
    (fault,) = faults_of_code(code(site, src="http://app.example/embed/v1.js"), site)
    assert fault == f"src is http://app.example/embed/v1.js; it should be {APP}/embed/v1.js"
    (fault,) = faults_of_code(code(site, **{"data-service-id": UNKNOWN_ID}), site)
    assert fault == f"data-service-id is {UNKNOWN_ID}; it should be {site.pk}"
    (fault,) = faults_of_code(code(site, type="text/plain"), site)
    assert "a browser does not run it" in fault
    for reference in (f"&#{'1' * 5000};", f"<a title='&#{'1' * 5000}'>"):
        assert faults_of_code(f"{reference}{code(site)}", site) == []
    assert faults_of_code(f"<![foo bar]>{code(site)}<![if IE]><![CDATA[x", site) == []


def test_code_in_a_comment_that_does_not_end_is_not_there(site: Embed) -> None:
    assert "not in this text" in faults_of_code(f"<!-- old <!-- {code(site)}", site)[0]
    assert "not in this text" in faults_of_code(f"<!-- {code(site)} --><p", site)[0]
    assert faults_of_code(f"<!-- new -->{code(site)}<!-- {code(site)} <p", site) == []


@pytest.mark.parametrize("begin", ["<a", "<!--x>", "<!x", "</a"])
def test_the_longest_text_is_read_once(begin: str) -> None:
    """Read from each begin to the end, each of these would take a minute."""
    assert faults_of_code(begin * (CODE_MAX // len(begin)), Embed())


@pytest.mark.slow
@given(
    html=st.text(max_size=300)
    | st.lists(st.sampled_from(["<script", " src=", "//[", ">", "'", "/embed/v1.js", "<![", "[x", "]>"])).map("".join)
)
@example(html='<script src="https://[x">')
@example(html="<![foo bar]>")
@example(html="<![foo")
def test_any_text_can_be_compared(html: str) -> None:
    assert faults_of_code(html, Embed())
