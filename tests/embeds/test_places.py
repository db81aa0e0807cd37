"""Where `/p/{id}` leads: to the page only where the community of the post proves its host, or its embed is trusted."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from embeds.models import Embed, EmbedStatus, HostProof, HostState
from embeds.services import trust_embed, untrust_embed, update_embed
from messaging.models import Account, Community, Message, Moderator
from messaging.pages.services import normalize_url
from tests.api import Api
from tests.embeds.making import EVENTS, an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PLACE = re.compile(r'data-place="([^"]*)"')
HOST = "blog.example"
ADDRESSES = (
    "https://blog.example:8443/a",
    "http://blog.example/a",
    "https://www.blog.example/a",
    "https://blog.example@evil.example/a",
    "https://evil.example/a",
    "https://192.0.2.1/a",
    "https://[2001:db8::1]/a",
    "https://bl\u043eg.example/a",
    "https://blog.example.evil.example/a",
)


@pytest.fixture(autouse=True)
def checks(settings: Any) -> None:
    settings.DOMAIN_CHECKS = True


def prove(community: Community, host: str = HOST, *, days_ago: float = 0) -> HostProof:
    at = timezone.now() - timedelta(days=days_ago)
    found = {"state": HostState.FOUND, "proved_at": at, "found_at": at, "checked_at": at}
    return HostProof.objects.create(community=community, host=host, token="t", **found)


@pytest.fixture
def owner() -> Account:
    person: Account = PersonFactory()
    return person


@pytest.fixture
def community(owner: Account) -> Community:
    made: Community = CommunityFactory()
    Moderator.objects.create(community=made, account=owner)
    return made


def post_on(url: str, community: Community | None) -> Message:
    post: Message = MessageFactory(page_id=normalize_url(url=url).page_id, community=community)
    return post


def place(post: Message) -> str | None:
    """Where the page of the permalink goes on to, without the anchor of the post."""
    response = Client().get(f"/p/{post.pk}")
    assert response.status_code == 200
    found = PLACE.search(response.content.decode())
    if found is None:
        return None
    address, anchor = found.group(1).split("#")
    assert anchor == f"community-post-{post.pk}"
    return address


@pytest.mark.parametrize(
    ("whitelist", "url", "expected"),
    [
        (["blog.example"], "https://blog.example/a?b=1", "https://blog.example/a?b=1"),
        (["blog.example"], "http://www.blog.example/a", "https://blog.example/a"),
        (["www.blog.example"], "https://blog.example/a", "https://www.blog.example/a"),
        (["other.example", "www.blog.example"], "https://blog.example", "https://www.blog.example/"),
        (["blog.example:443"], "https://blog.example/a", "https://blog.example:443/a"),
        (["blog.example:8443"], "https://blog.example:8443/a", "https://blog.example:8443/a"),
        (["*.example", "www.blog.example"], "https://blog.example/a", "https://www.blog.example/a"),
        (["*.example"], "https://blog.example/a", "https://blog.example/a"),
        (["*.example:8443"], "https://blog.example:8443/a", "https://blog.example:8443/a"),
        # Another port may be of others, and plain http is not gone on to.
        (["blog.example"], "https://blog.example:8443/a", None),
        (["blog.example:8443"], "https://blog.example/a", None),
        (["blog.example:80"], "https://blog.example/a", None),
        (["*.blog.example"], "https://blog.example/a", None),
        (["other.example"], "https://blog.example/a", None),
        ([], "https://blog.example/a", None),
    ],
)
@pytest.mark.parametrize("why", ["proved", "trusted"])
def test_the_entry_of_the_whitelist_spells_host_and_port(
    owner: Account, community: Community, whitelist: list[str], url: str, expected: str | None, why: str
) -> None:
    embed = an_embed(owner, community_id=community.pk, domain_whitelist=whitelist)
    post, other = post_on(url, community), post_on(url, CommunityFactory())
    assert (place(post), place(other)) == (None, None)
    if why == "proved":
        prove(community)
    elif whitelist:
        trust_embed(embed_id=embed.pk, by=SuperAdminFactory())
    assert (place(post), place(other)) == (expected, None)


@pytest.mark.parametrize(
    ("entry", "url", "expected"),
    [
        ("localhost:8000", "http://localhost:8000/a", "http://localhost:8000/a"),
        ("127.0.0.1", "http://127.0.0.1/a", "http://127.0.0.1/a"),
        ("[::1]:8000", "http://[::1]:8000/a", "http://[::1]:8000/a"),
        ("blog.localhost", "http://blog.localhost/a", "http://blog.localhost/a"),
        ("192.0.2.1", "http://192.0.2.1/a", "https://192.0.2.1/a"),
        ("localhost", "http://localhost:8000/a", None),
    ],
)
def test_only_loopback_hosts_are_http(
    owner: Account, community: Community, entry: str, url: str, expected: str | None
) -> None:
    embed = an_embed(owner, community_id=community.pk, domain_whitelist=[entry])
    trust_embed(embed_id=embed.pk, by=SuperAdminFactory())
    assert place(post_on(url, community)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("is_proved", [False, True])
def test_strangers_never_change_where_a_permalink_leads(owner: Account, community: Community, is_proved: bool) -> None:
    """With any embeds, whitelists, calls of normalize-url, loads and events; `None` stays, as does the address."""
    an_embed(owner, community_id=community.pk, domain_whitelist=["www.blog.example"])
    if is_proved:
        prove(community)
    expected = "https://www.blog.example/a" if is_proved else None
    post = post_on("https://blog.example/a", community)
    without, stranger = post_on("https://blog.example/a", None), PersonFactory()
    of_stranger = CommunityFactory()
    Moderator.objects.create(community=of_stranger, account=stranger)
    whitelists = ([], ["blog.example"], ["blog.example:443"], ["*.example"], ["evil.example", "blog.example:8443"])
    embeds = []
    for whitelist in whitelists:
        for bound in (community, of_stranger):
            embed = an_embed(stranger, community_id=of_stranger.pk, domain_whitelist=whitelist)
            # Strangers could bind embeds to any community, and theirs may be older than the owner's.
            Embed.objects.filter(pk=embed.pk).update(community=bound, created_at=timezone.now() - timedelta(days=9))
            embeds.append(embed)
    for embed in embeds:
        for url in ADDRESSES:
            header = {"x-service-embed-id": str(embed.pk)}
            Api().post("/v1/presence/normalize-url", {"url": url}, headers=header)
            for event in ("embed_load", "panel_open"):
                Api().post(EVENTS, {"serviceId": str(embed.pk), "event": event, "pageUrl": url})
            origin = {"Origin": url.rpartition("/")[0]}
            Api().send("GET", f"/api/embeds/config/{embed.pk}", headers=origin)
        assert (place(post), place(without)) == (expected, None)
    assert place(post_on("https://blog.example/a", of_stranger)) is None


@pytest.mark.parametrize("url", ADDRESSES)
def test_a_post_on_a_foreign_page_makes_no_redirector(owner: Account, community: Community, url: str) -> None:
    embed = an_embed(owner, community_id=community.pk, domain_whitelist=["blog.example"])
    trust_embed(embed_id=embed.pk, by=SuperAdminFactory())
    prove(community)
    leads = place(post_on(url, community))
    # Other spellings of a page of the host lead to it, and no other page does.
    assert leads == ("https://blog.example/a" if url in ADDRESSES[1:3] else None)


@pytest.mark.parametrize(("days", "leads"), [(13.9, True), (14.1, False)])
def test_a_proof_that_is_lost_ends_it(owner: Account, community: Community, days: float, leads: bool) -> None:
    an_embed(owner, community_id=community.pk, domain_whitelist=["blog.example"])
    prove(community, days_ago=days)
    assert (place(post_on("https://blog.example/a", community)) is not None) == leads


def test_no_proof_counts_while_the_service_does_not_check(owner: Account, community: Community, settings: Any) -> None:
    an_embed(owner, community_id=community.pk, domain_whitelist=["blog.example"])
    prove(community)
    post = post_on("https://blog.example/a", community)
    assert place(post) is not None
    settings.DOMAIN_CHECKS = False
    assert place(post) is None


@pytest.mark.parametrize("host", ["other.example", "a.blog.example", "example"])
def test_the_proof_of_another_host_counts_for_no_page(owner: Account, community: Community, host: str) -> None:
    an_embed(owner, community_id=community.pk, domain_whitelist=["blog.example", "*.example"])
    prove(community, host)
    prove(CommunityFactory())
    assert place(post_on("https://blog.example/a", community)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"status": EmbedStatus.PAUSED},
        {"status": EmbedStatus.DISABLED},
        {"deleted_at": timezone.now()},
        {"domain_whitelist": []},
        {"domain_blacklist": ["blog.example"]},
        {"page_rules": {"type": "exclude", "patterns": ["/a"]}},
    ],
)
@pytest.mark.parametrize("why", ["proved", "trusted"])
def test_only_an_active_embed_that_runs_on_the_page_counts(
    owner: Account, community: Community, change: dict[str, Any], why: str
) -> None:
    embed = an_embed(owner, community_id=community.pk, domain_whitelist=["blog.example"])
    post = post_on("https://blog.example/a", community)
    if why == "proved":
        prove(community)
    else:
        trust_embed(embed_id=embed.pk, by=SuperAdminFactory())
    assert place(post) == "https://blog.example/a"
    Embed.objects.filter(pk=embed.pk).update(**change)
    assert place(post) is None


def test_trust_holds_for_the_whitelist_that_the_super_admin_saw(owner: Account, community: Community) -> None:
    embed = an_embed(owner, community_id=community.pk, domain_whitelist=["blog.example"])
    bystander = an_embed(owner, community_id=community.pk, domain_whitelist=["news.example"])
    boss = SuperAdminFactory()
    trust_embed(embed_id=embed.pk, by=boss)
    update_embed(embed_id=embed.pk, owner=owner, domain_whitelist=["evil.example", "www.blog.example", "blog.example"])
    posts = [post_on(f"https://{host}/a", community) for host in ("blog.example", "evil.example", "news.example")]
    assert [place(post) for post in posts] == ["https://blog.example/a", None, None]
    trust_embed(embed_id=embed.pk, by=boss)
    assert [place(post) for post in posts] == ["https://www.blog.example/a", "https://evil.example/a", None]
    untrust_embed(embed_id=embed.pk, by=boss)
    assert [place(post) for post in posts] == [None, None, None]
    bystander.refresh_from_db()
    assert bystander.trusted_entries is None


def test_trust_ends_with_another_community(owner: Account, community: Community) -> None:
    embed = an_embed(owner, community_id=community.pk, domain_whitelist=["blog.example"])
    trust_embed(embed_id=embed.pk, by=SuperAdminFactory())
    other = CommunityFactory()
    Moderator.objects.create(community=other, account=owner)
    update_embed(embed_id=embed.pk, owner=owner, community_id=community.pk, name="Renamed")
    assert place(post_on("https://blog.example/a", community)) is not None
    update_embed(embed_id=embed.pk, owner=owner, community_id=other.pk)
    posts = [post_on("https://blog.example/a", each) for each in (community, other)]
    assert [place(post) for post in posts] == [None, None]
