"""The communities of a page in normalizeUrl: those whose widget was loaded on its host, which its whitelist names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from embeds import page_loads, places
from embeds.models import Embed, EmbedStatus, HostProof, Sighting
from embeds.services import delete_embed
from messaging.models import Community, Message, Page
from tests.api import Api
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, PersonFactory
from tests.plans import generic_plan, indexes, rows_read

pytestmark = pytest.mark.django_db
PATH = "/v1/presence/normalize-url"
HOST = "site.example"
URL = "https://site.example/blog"


@pytest.fixture(autouse=True)
def _written_at_once(settings: Any) -> None:
    settings.SIGHTING_SECONDS = 0
    page_loads._noted.clear()
    page_loads._written.clear()


@pytest.fixture(autouse=True)
def bystander() -> Iterator[Embed]:
    """The widget of another site, which belongs to no page of the tests."""
    embed = loaded(an_embed(domain_whitelist=["bystander.example"]), "bystander.example")
    yield embed
    assert communities_of("https://bystander.example/") == [embed.community_id]


def loaded(embed: Embed, *hosts: str) -> Embed:
    """Load the widget on each host, as a browser does there."""
    for host in hosts or (HOST,):
        Api().get(f"/api/embeds/config/{embed.pk}", headers={"Origin": f"https://{host}"})
    return embed


def a_widget(**fields: Any) -> Embed:
    return loaded(an_embed(**{"domain_whitelist": [HOST]} | fields))


def listed(url: str = URL) -> list[dict[str, Any]]:
    answer = Api().post(PATH, {"url": url})
    assert answer.status == 200, answer
    communities: list[dict[str, Any]] = answer.json["communities"]
    return communities


def communities_of(url: str = URL) -> list[UUID]:
    return [UUID(community["id"]) for community in listed(url)]


def test_the_community_of_the_widget_on_the_page_is_named() -> None:
    community = CommunityFactory(name="Harbour Gazette", slug="harbour-gazette")
    a_widget(community_id=community.pk)
    record = {"name": "Harbour Gazette", "slug": "harbour-gazette", "proved": False, "closed": False}
    assert listed() == [{"id": str(community.pk)} | record]


def test_a_page_without_a_widget_has_none_and_the_other_fields_are_as_before() -> None:
    answer = Api().post(PATH, {"url": URL}).json
    assert answer["communities"] == []
    assert answer["normalizedUrl"] == URL
    assert answer.keys() == {"pageId", "normalizedUrl", "rulesApplied", "removedParams", "communities"}


@pytest.mark.parametrize("host", ["a*b.example", "*.example", "a..example", ".example"])
def test_a_host_that_no_whitelist_can_name_has_no_community(host: str) -> None:
    """A URL may have such a host. It is a page as any other."""
    a_widget()
    community = a_widget(blocked_words=["spam"]).community
    url = f"https://{host}/a"
    assert listed(url) == []
    author, body = Api.as_person(PersonFactory()), {"pageId": Api().post(PATH, {"url": url}).json["pageId"]}
    for fields in ({}, {"communityId": str(community.pk)}):
        assert author.post("/api/messages", body | {"content": "spam", **fields}).status == 201
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "read_page", "arguments": {"url": url}},
    }
    assert not Api().post("/mcp", call).json["result"]["isError"]
    (first, _second) = Message.objects.all()
    assert Client().get(f"/p/{first.pk}").status_code == 200


def test_every_page_of_the_host_has_it_and_no_page_of_another() -> None:
    embed = a_widget()
    for url in (f"{URL}/other?a=1", "http://SITE.example", "https://user@site.example./x#top"):
        assert communities_of(url) == [embed.community_id], url
    for url in ("https://sub.site.example/", "https://example/", "https://site.example.evil.example/", "http://[::1]/"):
        assert communities_of(url) == [], url


class TestWww:
    """A page has the same id with and without `www.`."""

    @pytest.mark.parametrize("entry", ["site.example", "www.site.example"])
    @pytest.mark.parametrize("url", ["https://site.example/", "https://www.site.example/"])
    def test_is_left_out_of_the_comparison(self, entry: str, url: str) -> None:
        embed = loaded(an_embed(domain_whitelist=[entry]), entry)
        assert communities_of(url) == [embed.community_id]

    def test_is_left_out_of_an_entry_that_names_the_host_by_its_other_form(self) -> None:
        embed = a_widget()
        Embed.objects.filter(pk=embed.pk).update(domain_whitelist=["www.site.example"])
        assert communities_of() == [embed.community_id]

    def test_both_forms_are_one_community(self) -> None:
        embed = loaded(an_embed(domain_whitelist=[HOST]), HOST, "www.site.example")
        assert communities_of() == [embed.community_id]

    def test_other_subdomains_are_other_hosts(self) -> None:
        loaded(an_embed(domain_whitelist=["www2.site.example", "www.www.site.example"]), "www2.site.example")
        assert communities_of() == []


class TestPorts:
    def test_an_entry_without_a_port_names_every_port_on_which_the_widget_was_loaded(self) -> None:
        embed = loaded(an_embed(domain_whitelist=[HOST]), "site.example:8443")
        assert communities_of("https://site.example:8443/") == [embed.community_id]
        assert communities_of("https://site.example:9443/") == communities_of() == []

    def test_an_entry_with_a_port_names_that_port_only(self) -> None:
        embed = loaded(an_embed(domain_whitelist=["site.example:8443"]), "site.example:8443")
        assert communities_of("https://www.site.example:8443/") == [embed.community_id]
        Sighting.objects.filter(embed_id=embed.pk).update(host=HOST)
        assert communities_of() == []

    @pytest.mark.parametrize("entry", ["site.example:443", "site.example:80"])
    def test_a_default_port_is_that_of_a_page_without_one(self, entry: str) -> None:
        embed = loaded(an_embed(domain_whitelist=[entry]))
        assert communities_of() == communities_of("http://site.example:80/") == [embed.community_id]


class TestWildcards:
    def test_name_every_subdomain_and_not_the_host_itself(self) -> None:
        embed = loaded(an_embed(domain_whitelist=["*.site.example"]), "a.site.example", "b.c.site.example")
        for url in ("https://a.site.example/", "https://b.c.site.example/"):
            assert communities_of(url) == [embed.community_id], url
        Sighting.objects.filter(embed_id=embed.pk, host="a.site.example").update(host=HOST)
        assert communities_of() == communities_of("https://unloaded.site.example/") == []

    def test_name_www_too_whose_pages_are_those_of_the_host(self) -> None:
        embed = loaded(an_embed(domain_whitelist=["*.site.example"]), "www.site.example")
        assert communities_of() == [embed.community_id]


class TestEmbedsThatNameNoPage:
    def test_without_a_whitelist(self) -> None:
        embed = a_widget(domain_whitelist=[])
        assert Sighting.objects.filter(embed_id=embed.pk, is_refused=False).exists()
        assert communities_of() == []

    def test_whose_whitelist_names_other_hosts_only(self) -> None:
        embed = a_widget()
        Embed.objects.filter(pk=embed.pk).update(domain_whitelist=["other.example"])
        assert communities_of() == []

    @pytest.mark.parametrize("entry", [HOST, "*.example"])
    def test_whose_blacklist_has_the_host(self, entry: str) -> None:
        embed = a_widget()
        Embed.objects.filter(pk=embed.pk).update(domain_blacklist=[entry])
        assert communities_of() == []

    def test_a_blacklist_of_www_refuses_loads_there_only(self) -> None:
        embed = loaded(an_embed(domain_whitelist=[HOST], domain_blacklist=["www.site.example"]), "www.site.example")
        assert communities_of() == []
        assert loaded(embed, HOST)
        assert communities_of() == [embed.community_id]

    @pytest.mark.parametrize("status", [EmbedStatus.PAUSED, EmbedStatus.DISABLED])
    def test_that_are_not_active_until_they_are_again(self, status: EmbedStatus) -> None:
        embed = a_widget()
        Embed.objects.filter(pk=embed.pk).update(status=status)
        assert communities_of() == []
        Embed.objects.filter(pk=embed.pk).update(status=EmbedStatus.ACTIVE)
        assert communities_of() == [embed.community_id]

    def test_that_are_deleted(self) -> None:
        embed = a_widget()
        delete_embed(embed_id=embed.pk, owner=embed.owner)
        assert communities_of() == []

    def test_that_were_never_loaded_there(self) -> None:
        an_embed(domain_whitelist=[HOST])
        assert communities_of() == []

    def test_whose_load_was_refused_until_it_is_allowed(self) -> None:
        embed = loaded(an_embed(domain_whitelist=["other.example"]))
        Embed.objects.filter(pk=embed.pk).update(domain_whitelist=[HOST])
        assert communities_of() == []
        loaded(embed)
        assert communities_of() == [embed.community_id]

    def test_that_were_loaded_there_more_than_thirty_days_ago(self) -> None:
        embed = a_widget()
        Sighting.objects.filter(embed_id=embed.pk).update(last_seen_at=timezone.now() - timedelta(days=29, hours=23))
        assert communities_of() == [embed.community_id]
        Sighting.objects.filter(embed_id=embed.pk).update(last_seen_at=timezone.now() - timedelta(days=30, minutes=1))
        assert communities_of() == []


class TestSeveral:
    def test_the_one_that_was_loaded_first_is_the_first(self) -> None:
        embeds = [a_widget() for _ in range(3)]
        assert communities_of() == [embed.community_id for embed in embeds]
        Sighting.objects.filter(embed_id=embeds[2].pk).update(first_seen_at=F("first_seen_at") - timedelta(hours=1))
        assert communities_of()[0] == embeds[2].community_id

    def test_two_embeds_of_a_community_are_one(self) -> None:
        first = a_widget()
        a_widget(community_id=first.community_id)
        assert communities_of() == [first.community_id]

    def test_at_most_twenty_are_listed_and_strangers_cannot_push_out_the_first(self) -> None:
        first = a_widget()
        for _ in range(places.COMMUNITIES_MAX):
            a_widget()
        found = communities_of()
        assert len(found) == len(set(found)) == places.COMMUNITIES_MAX
        assert found[0] == first.community_id


class TestProofs:
    """A community that has proved the host is alone."""

    @pytest.fixture(autouse=True)
    def _checked(self, settings: Any) -> None:
        settings.DOMAIN_CHECKS = True

    def proves(self, embed: Embed, host: str = HOST, **fields: Any) -> HostProof:
        found = {"found_at": timezone.now(), "proved_at": timezone.now()} | fields
        return HostProof.objects.create(community_id=embed.community_id, host=host, token="x", **found)

    def test_hides_the_communities_of_strangers_who_came_first(self) -> None:
        a_widget()
        own = a_widget()
        self.proves(own)
        (only,) = listed("https://www.site.example/")
        assert (only["id"], only["proved"]) == (str(own.community_id), True)

    def test_does_so_however_many_they_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        statement = places.FIND.replace(f"first_seen_at LIMIT {places.EMBEDS_OF_HOST_MAX}", "1 LIMIT 0")
        assert statement != places.FIND
        own = a_widget()
        with monkeypatch.context() as patched:
            patched.setattr(places, "FIND", statement)
            assert communities_of() == []
            self.proves(own)
            assert communities_of() == [own.community_id]

    def test_counts_on_every_port_where_its_widget_was_loaded(self) -> None:
        own = loaded(an_embed(domain_whitelist=[HOST]), "site.example:8443")
        self.proves(own)
        assert [each["proved"] for each in listed("https://site.example:8443/")] == [True]

    def test_of_two_communities_names_both(self) -> None:
        a_widget()
        embeds = [a_widget() for _ in range(2)]
        for embed in embeds:
            self.proves(embed)
        assert communities_of() == [embed.community_id for embed in embeds]

    @pytest.mark.parametrize("host", ["example", "sub.site.example", "bystander.example"])
    def test_of_another_host_counts_there_only(self, host: str) -> None:
        embeds = [a_widget(), a_widget()]
        self.proves(embeds[1], host)
        assert communities_of() == [embed.community_id for embed in embeds]

    def test_counts_for_fourteen_days_and_with_checks_only(self, settings: Any) -> None:
        stranger, own = a_widget(), a_widget()
        proof = self.proves(own)
        settings.DOMAIN_CHECKS = False
        assert communities_of() == [stranger.community_id, own.community_id]
        settings.DOMAIN_CHECKS = True
        for found_at in (timezone.now() - timedelta(days=14, minutes=1), None):
            HostProof.objects.filter(pk=proof.pk).update(found_at=found_at)
            assert communities_of() == [stranger.community_id, own.community_id]

    @pytest.mark.parametrize("change", [{"status": EmbedStatus.PAUSED}, {"domain_whitelist": []}])
    def test_needs_an_embed_that_is_named(self, change: dict[str, Any]) -> None:
        stranger, own = a_widget(), a_widget()
        self.proves(own)
        Embed.objects.filter(pk=own.pk).update(**change)
        assert communities_of() == [stranger.community_id]


def test_only_the_list_follows_from_a_load() -> None:
    """A load can be made up: it makes no page, and changes none."""
    assert listed() == []
    before = list(Page.objects.values())
    a_widget()
    assert len(listed()) == 1
    assert list(Page.objects.values()) == before


def test_one_statement_finds_them() -> None:
    for _ in range(3):
        a_widget()
    communities_of()
    with CaptureQueriesContext(connection) as captured:
        assert len(communities_of()) == 3
    statements = [query["sql"] for query in captured if not query["sql"].startswith(("SAVEPOINT", "RELEASE"))]
    assert len(statements) == 2
    assert ["embeds_sighting" in statement for statement in statements] == [False, True]


@pytest.mark.slow
def test_the_statement_reads_the_loads_of_the_host_alone() -> None:
    owner = an_embed().owner
    for _ in range(3):
        loaded(an_embed(owner, domain_whitelist=[HOST]))
    Sighting.objects.bulk_create(
        Sighting(embed_id=Embed.objects.latest("created_at").pk, host=f"site-{number}.example", is_refused=False)
        for number in range(2_000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE embeds_sighting, embeds_embed")
    plan = generic_plan(places.FIND, places._values(HOST, "p1_any"))
    assert "sightings_by_host" in indexes(plan)
    assert rows_read(plan, "embeds_sighting") <= 3


def test_a_site_with_many_embeds_of_strangers_costs_no_more_than_a_part_of_them() -> None:
    assert places.EMBEDS_OF_HOST_MAX <= 500
    assert f"LIMIT {places.EMBEDS_OF_HOST_MAX}" in places.FIND


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_migration_is_reversible() -> None:
    def names() -> set[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'embeds_sighting'")
            return {name for (name,) in cursor.fetchall()}

    try:
        call_command("migrate", "embeds", "0004", verbosity=0)
        assert "sightings_by_host" not in names()
    finally:
        call_command("migrate", "embeds", verbosity=0)
    assert "sightings_by_host" in names()


def test_a_community_is_not_changed_by_being_named() -> None:
    before = list(Community.objects.values())
    listed()
    assert list(Community.objects.values()) == before
