"""The pages that change a site: what they save, refuse, and say of a change in another tab."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils.html import escape
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embeds.models import Embed
from embeds.services import update_embed
from messaging.models import Account, Moderator
from tests.admin.bystanders import Unchanged
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, PersonFactory
from tests.sessions import WAIT_SECONDS, in_background, wait_until_another_waits

pytestmark = pytest.mark.django_db
SITES = "/account/sites/"
CONFLICT = "changed elsewhere"
FORMS = {
    "look": {"type": "bubble", "position": "top-left", "size": "large", "color": "#112233", "message": "Talk"},
    "pages": {"rule": "patterns", "patterns": "/blog/*\n\nhttps://site.example/news/*\n/blog/*"},
    "words": {"words": "spam*\nbuy now"},
    "settings": {
        "name": "New name",
        "description": "Line 1\r\nLine 2",
        "community": "other",
        "shows": "everyone",
        "whitelist": "Site.EXAMPLE\nhttps://shop.example/x\n*.site.example",
        "blacklist": "bad.site.example",
    },
}


@pytest.fixture
def site(person: Account) -> Embed:
    CommunityFactory(slug="other", name="Other")
    return an_embed(person, name="Old name")


def opened(client: Client, site: Embed, page: str) -> str:
    """The hidden field of a form that is open in a tab."""
    return field_of(client.get(f"{SITES}{site.pk}/{page}/").content.decode())


def field_of(page: str) -> str:
    match = re.search(r'name="opened" value="([^"]*)"', page)
    assert match
    return match.group(1)


def save(client: Client, site: Embed, page: str, **fields: Any) -> Any:
    """Send the form as it was just opened, with `fields` changed."""
    return client.post(f"{SITES}{site.pk}/{page}/", FORMS[page] | {"opened": opened(client, site, page)} | fields)


def test_each_form_saves_its_fields_and_writes_nothing_that_is_not_changed(
    client: Client, site: Embed, person: Account, unchanged: Unchanged
) -> None:
    unchanged(an_embed(person))
    for page in FORMS:
        assert save(client, site, page).status_code == 302, page
    site.refresh_from_db()
    assert site.trigger_config == FORMS["look"]
    assert site.page_rules == {"type": "patterns", "patterns": ["/blog/*", "/news/*"]}
    assert site.blocked_words == ["spam*", "buy now"]
    assert (site.name, site.description, site.community.slug) == ("New name", "Line 1\nLine 2", "other")
    assert site.shows == "everyone"
    assert site.domain_whitelist == ["site.example", "shop.example", "*.site.example"]
    assert site.domain_blacklist == ["bad.site.example"]
    assert "Saved." in client.get(f"{SITES}{site.pk}/look/").content.decode()
    for page in FORMS:
        assert save(client, site, page).status_code == 302
    assert Embed.objects.get(pk=site.pk).updated_at == site.updated_at


def test_only_changed_fields_are_saved(client: Client, site: Embed, person: Account) -> None:
    form = FORMS["look"] | site.trigger_config | {"opened": opened(client, site, "look"), "size": "small"}
    update_embed(embed_id=site.pk, owner=person, trigger_config={"size": "medium"}, name="Meanwhile")
    assert client.post(f"{SITES}{site.pk}/look/", form).status_code == 302
    site.refresh_from_db()
    assert (site.trigger_config["size"], site.name) == ("small", "Meanwhile")


def test_settings_are_saved_beside_a_community_with_the_name_of_the_address(
    client: Client, site: Embed, person: Account
) -> None:
    mine, namesake = CommunityFactory(slug="blog", name="My blog"), CommunityFactory(slug="blog-2", name="blog")
    Moderator.objects.create(community=namesake, account=person)
    update_embed(embed_id=site.pk, owner=person, community_id=mine.pk)
    assert save(client, site, "settings", community="blog").status_code == 302
    site.refresh_from_db()
    assert (site.community, site.name) == (mine, "New name")
    # The address of another community than the present one is meant by its moderator alone.
    update_embed(embed_id=site.pk, owner=person, community_id=namesake.pk)
    assert save(client, site, "settings", community="blog").status_code == 200
    Moderator.objects.create(community=mine, account=person)
    assert save(client, site, "settings", community="blog").status_code == 302
    site.refresh_from_db()
    assert site.community == mine


@pytest.mark.django_db(transaction=True)
def test_a_form_that_waits_for_a_change_of_the_community_is_told_of_it() -> None:
    owner = PersonFactory()
    site, other, client = an_embed(owner, name="Old name"), CommunityFactory(slug="other"), Client()
    client.force_login(owner)
    form = {"name": "Mine", "community": site.community.slug, "opened": opened(client, site, "settings")}
    form |= dict.fromkeys(("description", "whitelist", "blacklist"), "") | {"shows": site.shows}
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            update_embed(embed_id=site.pk, owner=owner, community_id=other.pk)
            answer = in_background(pool, lambda: client.post(f"{SITES}{site.pk}/settings/", form))
            wait_until_another_waits()
        page = answer.result(WAIT_SECONDS)
    assert page.status_code == 200
    assert CONFLICT in page.content.decode()
    site.refresh_from_db()
    assert (site.community, site.name) == (other, "Old name")


def test_a_change_in_another_tab_is_told_once_and_nothing_is_lost(client: Client, site: Embed, person: Account) -> None:
    first = {"opened": opened(client, site, "settings"), "name": "Of the first tab", "community": site.community.slug}
    first |= {"shows": "community"}
    first |= dict.fromkeys(("description", "whitelist", "blacklist"), "")
    update_embed(embed_id=site.pk, owner=person, name="Of the second tab", domain_whitelist=["second.example"])
    page = client.post(f"{SITES}{site.pk}/settings/", first).content.decode()
    assert CONFLICT in page
    assert "Saved meanwhile: Of the second tab" in page
    assert "The field shows what is saved." in page
    assert "second.example" in page
    site.refresh_from_db()
    assert site.name == "Of the second tab"
    again = first | {"opened": field_of(page), "whitelist": "second.example"}
    assert client.post(f"{SITES}{site.pk}/settings/", again).status_code == 302
    site.refresh_from_db()
    assert (site.name, site.domain_whitelist) == ("Of the first tab", ["second.example"])


@pytest.mark.parametrize(
    ("page", "fields", "message"),
    [
        ("look", {"type": "banner"}, "Select a valid choice"),
        ("look", {"color": "red"}, "Enter a valid value"),
        ("look", {"color": "#12345\n"}, "Enter a valid value"),
        ("look", {"message": "x" * 81}, "at most 80 characters"),
        ("pages", {"rule": ""}, "This field is required"),
        ("pages", {"patterns": "/ok\nblog"}, "Line 2: A path starts with / or *"),
        ("pages", {"patterns": "/" + "x" * 512}, "Line 1: This is too long"),
        ("pages", {"patterns": "\n".join(f"/{n}" for n in range(101))}, "At most 100 lines"),
        ("words", {"words": "fine\n***"}, "Line 2: "),
        ("words", {"words": "x" * 101}, "Line 1: This is too long"),
        ("words", {"words": "\n".join(f"word{n}" for n in range(501))}, "At most 500 lines"),
        ("settings", {"name": ""}, "This field is required"),
        ("settings", {"name": "a\u202eb"}, "errorlist"),
        ("settings", {"community": "unknown"}, "no such community"),
        ("settings", {"shows": "nobody"}, "Select a valid choice"),
        ("settings", {"shows": ""}, "This field is required"),
        ("settings", {"whitelist": "a b"}, "Line 1: Write a domain"),
        ("settings", {"blacklist": "fine.example\n;"}, "Line 2: Write a domain"),
        ("settings", {"whitelist": "\n".join(f"s{n}.example" for n in range(1_001))}, "At most 1000 lines"),
        ("settings", {"description": "x" * 2_001}, "at most 2000 characters"),
    ],
)
def test_a_value_that_is_not_valid_is_told_and_nothing_is_saved(
    client: Client, site: Embed, page: str, fields: dict[str, str], message: str
) -> None:
    response = save(client, site, page, **fields)
    assert response.status_code == 200
    assert message in response.content.decode()
    assert Embed.objects.get(pk=site.pk).updated_at == site.updated_at


def test_a_form_without_its_fingerprints_saves_what_was_typed(client: Client, site: Embed) -> None:
    assert client.post(f"{SITES}{site.pk}/words/", {"words": "spam"}).status_code == 302
    site.refresh_from_db()
    assert site.blocked_words == ["spam"]


@given(text=st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=60))
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_saved_or_refused_and_shown_as_text(client: Client, site: Embed, text: str) -> None:
    for page, field in (("look", "message"), ("words", "words"), ("settings", "name"), ("settings", "whitelist")):
        response = save(client, site, page, **{field: f"<b>{text}"})
        assert response.status_code in (200, 302)
        shown = client.get(f"{SITES}{site.pk}/{page}/").content.decode()
        assert f"<b>{text}" not in shown.replace(escape(text), "")


def test_a_text_is_tried_with_the_words_and_not_stored(client: Client, site: Embed) -> None:
    save(client, site, "words")
    page = client.post(f"{SITES}{site.pk}/words/", {"text": "Spammer: <i> buy -- NOW"}).content.decode()
    assert "refused, because of: spam*, buy now" in page
    assert page.count("<mark>") == 2
    assert "&lt;i&gt;" in page
    assert "is not refused" in client.post(f"{SITES}{site.pk}/words/", {"text": "antispam"}).content.decode()
    site.refresh_from_db()
    assert site.blocked_words == ["spam*", "buy now"]


def test_the_first_look_leads_to_the_code(client: Client, site: Embed) -> None:
    form = FORMS["look"] | {"opened": opened(client, site, "look")}
    response = client.post(f"{SITES}{site.pk}/look/?new=1", form)
    assert response["Location"] == f"{SITES}{site.pk}/install/?new=1"


def test_the_preview_has_the_real_loader_and_may_be_framed_by_our_pages_alone(client: Client, site: Embed) -> None:
    response = client.get(f"{SITES}{site.pk}/preview/")
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]
    assert f'/embed/v1.js" data-service-id="{site.pk}"' in response.content.decode()
    assert "frame-src 'self'" in client.get(f"{SITES}{site.pk}/look/")["Content-Security-Policy"]
