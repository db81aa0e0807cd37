"""The admin of embeds: permissions, pages, disable and enable."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from embeds.admin import daily_chart
from embeds.analytics.summary import summarize
from embeds.exceptions import NothingToTrust
from embeds.models import Embed, EmbedStatus
from embeds.services import trust_embed
from messaging.models import Account
from tests.api import Api
from tests.embeds.making import INSTANCES, an_embed, send
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
LIST = "/admin/embeds/embed/"


@pytest.fixture
def boss() -> Account:
    return SuperAdminFactory()


@pytest.fixture
def admin(boss: Account) -> Client:
    client = Client()
    client.force_login(boss)
    return client


def page(client: Client, embed: Embed, then: str = "", **query: str) -> Any:
    return client.get(f"{LIST}{embed.pk}/{then or 'change/'}", query)


def test_list_takes_a_bounded_number_of_queries(admin: Client, django_assert_max_num_queries: Any) -> None:
    for n in range(12):
        an_embed(name=f"Widget {n}", domain_whitelist=[f"site{n}.example"])
    with django_assert_max_num_queries(7):
        text = admin.get(LIST).content.decode()
    assert all(f"Widget {n}<" in text for n in range(12))
    assert "site3.example" in text


def test_search_matches_name_handle_ids_and_domain(admin: Client) -> None:
    embed, other = an_embed(name="Blog", domain_whitelist=["blog.example"]), an_embed(name="Shop")
    for term in ("blo", f"@{embed.owner.handle}", str(embed.pk), str(embed.owner_id), "blog.example"):
        text = admin.get(LIST, {"q": term}).content.decode()
        assert str(embed.pk) in text
        assert str(other.pk) not in text


def test_change_page_shows_chart_and_embed_code(admin: Client) -> None:
    embed = an_embed(name="<b>Bold</b>")
    send(embed, "trigger_view", timezone.now())
    send(embed, "trigger_click", timezone.now() - timedelta(days=29))
    text = page(admin, embed).content.decode()
    today = timezone.now().date()
    for title in ("Views of the trigger", "Clicks on the trigger", "Visitors"):
        assert f'aria-label="{title} by day, at most 1"' in text
    assert f"<title>{today} · 1 views</title>" in text
    assert f"<title>{today} · 0 clicks</title>" in text
    assert "&lt;script async src=" in text
    assert "<b>Bold</b>" not in text
    assert f'href="{LIST}{embed.pk}/disable/"' in text


def test_chart_is_well_formed_without_script_or_style() -> None:
    embed = an_embed()
    send(embed, "trigger_view", timezone.now())
    today = timezone.now().date()
    for first in (today, today - timedelta(days=29)):
        html = daily_chart(summarize(embed_id=embed.pk, first=first, last=today), is_inline=False)
        root = ElementTree.fromstring(html.strip())
        days = (today - first).days + 1
        titles = ["Views of the trigger", "Clicks on the trigger", "Visitors"]
        assert [title.text for title in root.findall("figure/figcaption/b")] == titles
        # A plot without numbers is a sentence.
        assert [len(plot.findall("svg/rect/title")) for plot in root] == [days, 0, days]
        for element in root.iter():
            assert element.tag != "script"
            assert not {"style", "onclick"} & set(element.keys())
            assert float(element.get("height", 1)) >= 0


def test_the_chart_of_a_discussion_in_the_page_has_its_views(admin: Client) -> None:
    embed = an_embed(trigger_config={"mode": "inline"})
    for event in ("embed_load", "embed_load", "panel_open"):
        send(embed, event, timezone.now())
    text = page(admin, embed).content.decode()
    assert 'aria-label="Views of pages by day, at most 2"' in text
    assert 'aria-label="Discussions reached by day, at most 1"' in text
    assert "of the trigger" not in text


@pytest.fixture
def bystander() -> Iterator[None]:
    """The embed of another owner, which is the same after the test."""
    before = Embed.objects.values().get(pk=an_embed().pk)
    yield
    assert Embed.objects.values().get(pk=before["id"]) == before


@pytest.mark.usefixtures("bystander")
def test_disable_needs_confirmation_and_logs_actor_and_reason(admin: Client, boss: Account) -> None:
    embed = an_embed()
    confirmation = page(admin, embed, "disable/")
    assert "disappears from its pages" in confirmation.content.decode()
    embed.refresh_from_db()
    assert embed.status == EmbedStatus.ACTIVE
    response = admin.post(f"{LIST}{embed.pk}/disable/", {"reason": "Spam on every page"})
    assert (response.status_code, response["Location"]) == (302, f"{LIST}{embed.pk}/change/")
    embed.refresh_from_db()
    assert embed.status == EmbedStatus.DISABLED
    entry = LogEntry.objects.get(object_id=str(embed.pk))
    assert (entry.user_id, entry.change_message) == (boss.pk, "Disabled (active → disabled): Spam on every page")
    assert f'href="{LIST}{embed.pk}/enable/"' in page(admin, embed).content.decode()
    admin.post(f"{LIST}{embed.pk}/enable/")
    embed.refresh_from_db()
    assert embed.status == EmbedStatus.ACTIVE


@pytest.mark.usefixtures("bystander")
@pytest.mark.parametrize("status", ["active", "paused"])
def test_enabling_restores_the_previous_status(admin: Client, status: str) -> None:
    embed = an_embed(status=status)
    for _ in range(2):
        admin.post(f"{LIST}{embed.pk}/disable/", {"reason": "Spam"})
        admin.post(f"{LIST}{embed.pk}/disable/", {"reason": "Twice"})
        admin.post(f"{LIST}{embed.pk}/enable/")
        embed.refresh_from_db()
        assert embed.status == status
    assert LogEntry.objects.filter(object_id=str(embed.pk)).count() == 4


@pytest.mark.usefixtures("bystander")
def test_put_by_a_super_admin_and_the_admin_log_the_same(admin: Client, boss: Account) -> None:
    embed = an_embed(owner=boss, status="paused")
    api, path = Api.as_signed_in(boss), f"{INSTANCES}/{embed.pk}"
    assert api.put(path, {"status": "disabled", "name": "New"}).json["status"] == "disabled"
    admin.post(f"{LIST}{embed.pk}/enable/")
    embed.refresh_from_db()
    assert (embed.status, embed.name) == ("paused", "New")
    admin.post(f"{LIST}{embed.pk}/disable/", {"reason": "Spam"})
    assert api.put(path, {"status": "active"}).json["status"] == "active", "the requested status, not the stored one"
    log = LogEntry.objects.filter(object_id=str(embed.pk)).order_by("id").values_list("change_message", flat=True)
    assert list(log) == [
        "Disabled (paused → disabled).",
        "Enabled (disabled → paused).",
        "Disabled (paused → disabled): Spam",
        "Enabled (disabled → active).",
    ]


def test_owner_of_a_disabled_embed_may_change_all_but_its_status(admin: Client) -> None:
    embed = an_embed(status="paused")
    owner, path = Api.as_signed_in(embed.owner), f"{INSTANCES}/{embed.pk}"
    admin.post(f"{LIST}{embed.pk}/disable/", {"reason": "Spam"})
    assert owner.put(path, {"status": "active"}).status == 403
    assert owner.put(path, {"name": "New", "status": "disabled"}).status == 200
    admin.post(f"{LIST}{embed.pk}/enable/")
    embed.refresh_from_db()
    assert (embed.status, embed.name) == ("paused", "New")


def test_row_of_a_release_without_status_to_restore_is_enabled_as_active(admin: Client) -> None:
    """That release sets the column neither on insert nor on disabling."""
    embed = an_embed()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE embeds_embed SET status = 'disabled', status_to_restore = DEFAULT")
    admin.post(f"{LIST}{embed.pk}/enable/")
    embed.refresh_from_db()
    assert embed.status == EmbedStatus.ACTIVE


def test_action_without_a_change_is_not_logged(admin: Client) -> None:
    embed = an_embed(status="paused")
    admin.post(f"{LIST}{embed.pk}/enable/")
    embed.refresh_from_db()
    assert embed.status == EmbedStatus.PAUSED
    assert not LogEntry.objects.exists()


def test_disable_needs_a_csrf_token(boss: Account) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(boss)
    assert client.post(f"{LIST}{an_embed().pk}/disable/").status_code == 403


def test_address_check_states_why_an_embed_does_not_show(admin: Client) -> None:
    for address, verdict in [
        ("https://example.com/blog/one", "Shown."),
        ("https://evil.net/blog/one", "do not allow this host"),
        ("https://example.com/about", "do not include this path"),
        ("example.com", "Enter a full address"),
    ]:
        embed = an_embed(domain_whitelist=["example.com"], page_rules={"type": "patterns", "patterns": ["/blog/*"]})
        assert verdict in page(admin, embed, address=address).content.decode(), (address, verdict)


@pytest.mark.parametrize("account", ["anonymous", "person", "staff"])
def test_only_super_admins_have_access(account: str) -> None:
    embed, client = an_embed(domain_whitelist=["blog.example"]), Client()
    if account != "anonymous":
        client.force_login(PersonFactory(is_staff=account == "staff"))
    for path in (LIST, *(f"{LIST}{embed.pk}/{name}/" for name in ("change", "disable", "trust"))):
        for response in (client.get(path), client.post(path)):
            assert response.status_code in {302, 403}
            assert embed.name not in response.content.decode()
    embed.refresh_from_db()
    assert (embed.status, embed.trusted_entries) == (EmbedStatus.ACTIVE, None)
    assert LIST not in client.get(reverse("admin:index")).content.decode()


def test_admin_cannot_add_change_or_delete_embeds(admin: Client) -> None:
    embed = an_embed()
    assert admin.get(f"{LIST}add/").status_code == 403
    assert admin.post(f"{LIST}{embed.pk}/change/", {"name": "Mine"}).status_code == 403
    assert admin.post(f"{LIST}{embed.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Embed.objects.get().name == embed.name
    assert page(admin, embed, "history/").status_code == 200


@pytest.mark.usefixtures("bystander")
def test_trust_is_confirmed_logged_and_undone(admin: Client, boss: Account) -> None:
    embed = an_embed(domain_whitelist=["blog.example", "www.blog.example"])
    assert "take readers on to pages" in page(admin, embed, "trust/").content.decode()
    embed.refresh_from_db()
    assert embed.trusted_entries is None
    response = admin.post(f"{LIST}{embed.pk}/trust/", {"reason": "Known site"}, follow=True)
    assert f'href="{LIST}{embed.pk}/untrust/' in response.content.decode()
    embed.refresh_from_db()
    assert embed.trusted_entries == ["blog.example", "www.blog.example"]
    # Nothing is left to trust, and a second call logs nothing.
    assert f'href="{LIST}{embed.pk}/trust/' not in page(admin, embed).content.decode()
    for name in ("trust", "untrust", "untrust"):
        admin.post(f"{LIST}{embed.pk}/{name}/")
    embed.refresh_from_db()
    assert embed.trusted_entries is None
    log = LogEntry.objects.filter(object_id=str(embed.pk)).order_by("id").values_list("change_message", "user_id")
    assert list(log) == [("Trusted: Known site", boss.pk), ("Untrusted.", boss.pk)]


@pytest.mark.usefixtures("bystander")
def test_an_embed_without_a_whitelist_is_not_trusted(admin: Client) -> None:
    embed = an_embed()
    admin.post(f"{LIST}{embed.pk}/trust/")
    embed.refresh_from_db()
    assert embed.trusted_entries is None
    assert not LogEntry.objects.exists()
    with pytest.raises(NothingToTrust):
        trust_embed(embed_id=embed.pk, by=SuperAdminFactory())


def test_many_embeds_are_trusted_and_untrusted_from_the_list(admin: Client) -> None:
    embeds = [an_embed(domain_whitelist=[f"site{n}.example"]) for n in range(3)]
    bystander = an_embed(domain_whitelist=["other.example"])
    chosen = {"_selected_action": [str(embed.pk) for embed in embeds], "confirmed": "1"}
    for action, expected in (
        ("trust", [["site0.example"], ["site1.example"], ["site2.example"]]),
        ("untrust", [None] * 3),
    ):
        admin.post(LIST, chosen | {"action": action})
        assert [Embed.objects.get(pk=embed.pk).trusted_entries for embed in embeds] == expected
    bystander.refresh_from_db()
    assert bystander.trusted_entries is None
