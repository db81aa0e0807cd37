"""The page on which moderators prove hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from embeds.host_proofs import check_hosts
from embeds.models import HostProof
from messaging.models import Account, Community, Moderator
from tests.embeds.name_server import NameServer, name_server
from tests.factories import CommunityFactory, PersonFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def names(settings: Any) -> Iterator[NameServer]:
    with name_server() as server:
        settings.DOMAIN_CHECKS, settings.DOMAIN_RESOLVER, settings.DOMAIN_TIMEOUT = True, server.address, 0.5
        yield server


@pytest.fixture
def community(names: NameServer) -> Community:
    made: Community = CommunityFactory(slug="harbour")
    return made


@pytest.fixture
def client(community: Community) -> Client:
    moderator: Account = PersonFactory()
    Moderator.objects.create(community=community, account=moderator)
    client = Client()
    client.force_login(moderator)
    return client


PATH = "/account/communities/harbour/moderation/hosts/"


def send(client: Client, action: str, host: str) -> str:
    response = client.post(PATH, {"action": action, "host": host}, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_says_what_to_enter_and_what_was_found(names: NameServer, client: Client) -> None:
    bystander = HostProof.objects.create(community=CommunityFactory(), host="blog.example", token="other")
    assert "No host is proved yet" in client.get(PATH).content.decode()
    text = send(client, "add", "https://www.Blog.example/about")
    proof = HostProof.objects.exclude(pk=bystander.pk).get()
    assert proof.host == "blog.example"
    for part in (
        "_community.blog.example",
        f"community-verification={proof.token}",
        "Not proved",
        "not looked for yet",
    ):
        assert part in text
    names.records["_community.blog.example"] = ["<b>v=spf1</b>"]
    waiting = client.post(PATH, {"action": "check", "host": "blog.example"}, follow=True)
    assert "We are looking for the record" in waiting.content.decode()
    assert waiting.headers["Refresh"] == "3"
    check_hosts()
    response = client.get(PATH)
    assert "Refresh" not in response.headers
    text = response.content.decode()
    assert "have other values" in text
    assert "&lt;b&gt;v=spf1&lt;/b&gt;" in text
    names.records["_community.blog.example"] = [proof.record_value]
    HostProof.objects.update(checked_at=None)
    check_hosts()
    text = client.get(PATH).content.decode()
    assert ">Proved<" in text
    assert "The record was found." in text
    assert proof.token not in text
    # A missing record shows again what to enter, while the proof counts.
    names.records.clear()
    HostProof.objects.update(checked_at=None)
    check_hosts()
    text = client.get(PATH).content.decode()
    for part in (">Proved<", proof.token, "There is no TXT record", "lost when the record was not found for 14 days"):
        assert part in text
    assert "No host is proved yet" in send(client, "remove", "blog.example")
    assert HostProof.objects.get() == bystander


def test_refusals_are_shown(names: NameServer, community: Community, client: Client) -> None:
    for host in ("localhost", "192.0.2.1", "a b", "https://", "http://[", "https://x", "*.example", "x" * 400):
        assert "Enter a host such as blog.example" in send(client, "add", host), host
    assert "required" in send(client, "add", "") or "aria-invalid" in send(client, "add", "")
    send(client, "add", "blog.example")
    send(client, "check", "blog.example")
    assert "Too many requests" in send(client, "check", "blog.example")
    for action in ("check", "remove"):
        assert "removed already" in send(client, action, "other.example")
    for n in range(19):
        HostProof.objects.create(community=community, host=f"h{n}.example", token="t")
    assert "as many hosts as are allowed" in send(client, "add", "more.example")
    assert client.post(PATH, {"action": "nonsense"}).status_code == 404
    assert HostProof.objects.count() == 20


def test_others_do_not_find_the_page_and_without_checks_nobody(client: Client, settings: Any) -> None:
    stranger = Client()
    stranger.force_login(PersonFactory())
    assert stranger.get(PATH).status_code == 404
    assert stranger.post(PATH, {"action": "add", "host": "blog.example"}).status_code == 404
    rules = PATH.replace("hosts", "rules")
    assert PATH in client.get(rules).content.decode()
    settings.DOMAIN_CHECKS = False
    assert client.get(PATH).status_code == 404
    assert client.post(PATH, {"action": "add", "host": "blog.example"}).status_code == 404
    assert PATH not in client.get(rules).content.decode()
    assert not HostProof.objects.exists()
