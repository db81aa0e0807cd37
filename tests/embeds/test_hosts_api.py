"""The operations on the hosts of a community."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from embeds.host_proofs import check_hosts
from embeds.models import HostProof
from messaging.models import Community, Moderator
from tests.api import Api
from tests.embeds.name_server import NameServer, name_server
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def names(settings: Any) -> Iterator[NameServer]:
    with name_server() as server:
        settings.DOMAIN_CHECKS, settings.DOMAIN_RESOLVER, settings.DOMAIN_TIMEOUT = True, server.address, 0.5
        yield server


@pytest.fixture
def community(names: NameServer) -> Community:
    made: Community = CommunityFactory()
    return made


@pytest.fixture
def api(community: Community) -> Api:
    moderator = PersonFactory()
    Moderator.objects.create(community=community, account=moderator)
    return Api.as_person(moderator)


def path(community: Community, more: str = "") -> str:
    return f"/v1/moderation/communities/{community.pk}/hosts{more}"


def test_a_moderator_proves_a_host_and_removes_it(names: NameServer, community: Community, api: Api) -> None:
    bystander = HostProof.objects.create(community=CommunityFactory(), host="blog.example", token="t")
    assert api.get(path(community)).json == {"hosts": []}
    added = api.post(path(community), {"host": "www.Blog.example"})
    assert added.status == 200, added.body
    host = added.json
    assert (host["host"], host["recordName"], host["proved"]) == ("blog.example", "_community.blog.example", False)
    assert (host["state"], host["checkedAt"], host["checking"], host["found"]) == ("unseen", None, False, [])
    asked = api.post(path(community, "/blog.example/check"))
    assert (asked.status, asked.json["checking"]) == (200, True)
    names.records[host["recordName"]] = ["something else"]
    check_hosts()
    (seen,) = api.get(path(community)).json["hosts"]
    assert (seen["state"], seen["found"], seen["checking"], seen["proved"]) == (
        *("other_values", ["something else"], False, False),
    )
    names.records[host["recordName"]] = [host["recordValue"]]
    HostProof.objects.update(checked_at=None)
    check_hosts()
    (seen,) = api.get(path(community)).json["hosts"]
    assert (seen["state"], seen["found"], seen["proved"]) == ("found", [], True)
    assert seen["provedAt"] == seen["checkedAt"]
    removed = api.delete(path(community, "/www.blog.example"))
    assert removed.json == {"communityId": str(community.pk), "host": "blog.example", "removed": True}
    assert api.get(path(community)).json == {"hosts": []}
    # Added again, it has another token: who removed the host has no use of the old record.
    assert api.post(path(community), {"host": "blog.example"}).json["recordValue"] != host["recordValue"]
    assert HostProof.objects.filter(pk=bystander.pk).exists()


def test_a_retry_gets_the_first_response_and_a_second_call_the_same_host(community: Community, api: Api) -> None:
    key = {"Idempotency-Key": "one"}
    first = api.post(path(community), {"host": "blog.example"}, headers=key)
    assert api.post(path(community), {"host": "blog.example"}, headers=key).json == first.json
    assert api.post(path(community), {"host": "blog.example"}).json == first.json
    Moderator.objects.all().delete()
    assert api.post(path(community), {"host": "blog.example"}, headers=key).status == 403


def test_a_look_is_limited(community: Community, api: Api) -> None:
    api.post(path(community), {"host": "blog.example"})
    assert api.post(path(community, "/blog.example/check")).status == 200
    again = api.post(path(community, "/blog.example/check"))
    assert (again.status, again.json["error"], again.json["counter"]) == (429, "rate_limited", "host_check")
    assert 0 < int(again.headers["Retry-After"]) <= 15
    # Each host and each community has a count of its own.
    api.post(path(community), {"host": "news.example"})
    assert api.post(path(community, "/news.example/check")).status == 200


@pytest.mark.parametrize(
    "body", [{}, {"host": 5}, {"host": None}, {"host": ["a.example"]}, {"host": ""}, {"host": "*"}]
)
def test_what_is_no_host_is_400(community: Community, api: Api, body: dict[str, Any]) -> None:
    answer = api.post(path(community), body)
    assert (answer.status, answer.json["field"]) == (400, "host"), answer.body
    assert not HostProof.objects.exists()


def test_a_host_that_is_too_long_is_400(community: Community, api: Api) -> None:
    for host in ("a" * 300, "a." * 121 + "example", "x" * 100_000):
        assert api.post(path(community), {"host": host}).status in {400, 413}


def test_others_are_403_and_what_is_missing_404(community: Community, api: Api, names: NameServer) -> None:
    api.post(path(community), {"host": "blog.example"})
    of_another = PersonFactory()
    Moderator.objects.create(community=CommunityFactory(), account=of_another)
    for stranger in (Api.as_person(PersonFactory()), Api.as_person(of_another)):
        for answer in (
            stranger.get(path(community)),
            stranger.post(path(community), {"host": "new.example"}),
            stranger.post(path(community, "/blog.example/check")),
            stranger.delete(path(community, "/blog.example")),
        ):
            assert (answer.status, answer.json["error"]) == (403, "moderator_required")
    for host in ("other.example", "%20", "blog.example%00", "x" * 400):
        for answer in (api.post(path(community, f"/{host}/check")), api.delete(path(community, f"/{host}"))):
            assert answer.status == 404, (host, answer.body)
    missing = f"/v1/moderation/communities/{uuid4()}/hosts"
    boss = Api.as_person(SuperAdminFactory())
    assert boss.get(missing).json["error"] == "community_not_found"
    assert boss.post(missing, {"host": "new.example"}).json["error"] == "community_not_found"
    assert len(boss.get(path(community)).json["hosts"]) == 1


def test_at_most_20_and_none_without_domain_checks(community: Community, api: Api, settings: Any) -> None:
    for n in range(20):
        assert api.post(path(community), {"host": f"h{n}.example"}).status == 200
    refused = api.post(path(community), {"host": "one.more.example"})
    assert (refused.status, refused.json["error"], refused.json["max"]) == (409, "too_many_hosts", 20)
    settings.DOMAIN_CHECKS = False
    for answer in (api.post(path(community), {"host": "x.example"}), api.post(path(community, "/h1.example/check"))):
        assert (answer.status, answer.json["error"]) == (403, "domain_checks_off")
    assert len(api.get(path(community)).json["hosts"]) == 20
    assert api.delete(path(community, "/h1.example")).status == 200
