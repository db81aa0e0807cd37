"""Hosts that communities prove by TXT records, which are asked for at a name server in this process."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.admin.models import LogEntry
from django.core.exceptions import ImproperlyConfigured
from django.db.models import F
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from config import env
from embeds import host_proofs
from embeds.exceptions import DomainChecksOff, HostNotFound, TooManyHosts
from embeds.host_proofs import (
    ASK_SECONDS,
    HOSTS_MAX,
    add_host,
    ask_for_check,
    check_hosts,
    hosts_of,
    remove_host,
)
from embeds.models import VALUE, HostProof, HostState
from kernel.api.exceptions import InvalidInput, RateLimited
from kernel.database.sql import database_now
from messaging.models import Account, Community, Moderator
from messaging.moderation.exceptions import ModeratorRequired
from messaging.posts.exceptions import CommunityNotFound
from tests.commands.running import run_json
from tests.embeds.name_server import SILENCE, NameServer, name_server
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
UNKNOWN = UUID("01890a5d-ac96-774b-bcce-b302099a8057")


@pytest.fixture
def names(settings: Any) -> Iterator[NameServer]:
    with name_server() as server:
        settings.DOMAIN_CHECKS, settings.DOMAIN_RESOLVER, settings.DOMAIN_TIMEOUT = True, server.address, 0.5
        yield server


@pytest.fixture
def moderator() -> Account:
    person: Account = PersonFactory()
    return person


@pytest.fixture
def community(moderator: Account) -> Community:
    made: Community = CommunityFactory()
    Moderator.objects.create(community=made, account=moderator)
    return made


@pytest.fixture
def proof(names: NameServer, community: Community, moderator: Account) -> HostProof:
    return add_host(community_id=community.pk, host="blog.example", by=moderator)


def age(proof: HostProof, **by: float) -> None:
    """Let everything about a proof have happened earlier."""
    past = timedelta(**by)
    columns = ("created_at", "proved_at", "found_at", "checked_at", "asked_at")
    HostProof.objects.filter(pk=proof.pk).update(**{column: F(column) - past for column in columns})


def is_proved(proof: HostProof) -> bool:
    return HostProof.objects.proved().filter(pk=proof.pk).exists()


def test_a_record_with_the_token_proves_the_host_and_no_other_community(names: NameServer, proof: HostProof) -> None:
    other = CommunityFactory()
    bystander = add_host(community_id=other.pk, host="blog.example", by=SuperAdminFactory())
    assert bystander.token != proof.token
    names.records[proof.record_name] = ["v=spf1 -all", proof.record_value]
    assert not is_proved(proof)
    assert check_hosts() == 2
    assert set(names.asked) == {"_community.blog.example"}
    assert (is_proved(proof), is_proved(bystander)) == (True, False)
    bystander.refresh_from_db()
    assert (bystander.state, bystander.values) == (HostState.OTHER_VALUES, [proof.record_value, "v=spf1 -all"])
    # Nothing is due any more.
    assert check_hosts() == 0


@pytest.mark.parametrize(
    ("record", "state", "values"),
    [
        (None, HostState.NO_RECORD, []),
        ([], HostState.NO_RECORD, []),
        (SILENCE, HostState.NO_ANSWER, []),
        (["community-verification=other"], HostState.OTHER_VALUES, ["community-verification=other"]),
        (["x" * 700], HostState.OTHER_VALUES, ["x" * 255]),
        ([r"\000\010<b>\255"], HostState.OTHER_VALUES, [r"??<b>\xff"]),
        ([str(n) for n in range(9)], HostState.OTHER_VALUES, [str(n) for n in range(5)]),
    ],
)
def test_what_was_found_instead_is_stored(
    names: NameServer, proof: HostProof, record: Any, state: HostState, values: list[str]
) -> None:
    if record is not None:
        names.records[proof.record_name] = record
    assert check_hosts() == 1
    proof.refresh_from_db()
    assert (proof.state, proof.values, proof.proved_at, proof.found_at) == (state, values, None, None)
    assert proof.checked_at is not None
    assert not is_proved(proof)


def test_a_long_token_among_parts_of_a_value_is_found(names: NameServer, proof: HostProof) -> None:
    HostProof.objects.filter(pk=proof.pk).update(token="t" * 64)
    names.records[proof.record_name] = [f"{VALUE}{'t' * 64}", "y" * 900]
    check_hosts()
    assert is_proved(proof)


def test_a_server_that_cannot_be_reached_is_no_answer(proof: HostProof, settings: Any) -> None:
    settings.DOMAIN_RESOLVER = ("127.0.0.1", 1)
    assert check_hosts() == 1
    proof.refresh_from_db()
    assert proof.state == HostState.NO_ANSWER


def test_a_found_record_is_looked_for_weekly_and_a_missing_one_daily(names: NameServer, proof: HostProof) -> None:
    names.records[proof.record_name] = [proof.record_value]
    assert check_hosts() == 1
    age(proof, days=6.9)
    assert check_hosts() == 0
    age(proof, days=0.2)
    names.records.clear()
    assert check_hosts() == 1
    # It is missing, and still proved: there is time to put it back.
    assert is_proved(proof)
    age(proof, hours=23)
    assert check_hosts() == 0
    age(proof, hours=2)
    assert check_hosts() == 1
    assert is_proved(proof)


def test_a_proof_is_lost_after_14_days_without_the_record_and_comes_back(names: NameServer, proof: HostProof) -> None:
    names.records[proof.record_name] = [proof.record_value]
    check_hosts()
    proof.refresh_from_db()
    first = proof.proved_at
    names.records.clear()
    for _ in range(14):
        assert is_proved(proof)
        age(proof, days=1)
        check_hosts()
    assert not is_proved(proof)
    # Nobody looks by themselves any more.
    age(proof, days=2)
    assert check_hosts() == 0
    names.records[proof.record_name] = [proof.record_value]
    HostProof.objects.filter(pk=proof.pk).update(asked_at=database_now())
    assert check_hosts() == 1
    assert is_proved(proof)
    proof.refresh_from_db()
    assert first is not None
    assert proof.proved_at is not None
    assert proof.proved_at > first


def test_a_proof_that_nobody_looks_at_is_lost_too(names: NameServer, proof: HostProof, settings: Any) -> None:
    names.records[proof.record_name] = [proof.record_value]
    check_hosts()
    age(proof, days=13.9)
    assert is_proved(proof)
    age(proof, days=0.2)
    assert not is_proved(proof)


def test_since_when_it_is_proved_stays_while_it_is(names: NameServer, proof: HostProof) -> None:
    names.records[proof.record_name] = [proof.record_value]
    check_hosts()
    age(proof, days=8)
    proof.refresh_from_db()
    since = proof.proved_at
    assert check_hosts() == 1
    proof.refresh_from_db()
    assert proof.proved_at == since
    assert proof.found_at == proof.checked_at


def test_a_later_look_is_not_overwritten_by_an_earlier_one(names: NameServer, proof: HostProof) -> None:
    now = database_now()
    host_proofs._store(proof, HostState.FOUND, [], at=now)
    host_proofs._store(proof, HostState.NO_RECORD, [], at=now - timedelta(seconds=5))
    proof.refresh_from_db()
    assert (proof.state, proof.checked_at) == (HostState.FOUND, now)


def test_a_host_that_is_removed_during_a_look_stays_removed(names: NameServer, proof: HostProof) -> None:
    proof.delete()
    host_proofs._store(proof, HostState.FOUND, [], at=database_now())
    assert not HostProof.objects.exists()


def test_many_hosts_are_looked_up_beside_one_another(names: NameServer, community: Community, settings: Any) -> None:
    settings.DOMAIN_TIMEOUT = 1.0
    for n in range(45):
        proof = HostProof.objects.create(community=community, host=f"h{n}.example", token="t")
        names.records[proof.record_name] = [proof.record_value] if n else SILENCE
    assert check_hosts() == 45
    assert HostProof.objects.proved().count() == 44
    # A run whose time is over leaves the rest to the next one.
    HostProof.objects.update(asked_at=database_now())
    assert check_hosts(seconds=0) == 0
    assert run_json("check_hosts", "--json") == {"checked": 45}


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("blog.example", "blog.example"),
        (" WWW.Blog.Example. ", "blog.example"),
        ("bl\u00f6g.example", "xn--blg-tna.example"),
        ("www.www.a.b.example", "a.b.example"),
    ],
)
def test_hosts_are_stored_as_page_urls_have_them(
    names: NameServer, community: Community, moderator: Account, sent: str, stored: str
) -> None:
    added = add_host(community_id=community.pk, host=sent, by=moderator)
    assert added.host == stored
    assert add_host(community_id=community.pk, host=stored, by=moderator) == added
    assert HostProof.objects.count() == 1
    entry = LogEntry.objects.get()
    assert (entry.user_id, entry.change_message) == (moderator.pk, f"Host {stored} added.")


@pytest.mark.parametrize(
    "sent",
    [
        *("", " ", "localhost", "example", "192.0.2.1", "0x7f.1", "[::1]", "blog.example:443", "https://blog.example"),
        *("blog.example/a", "user@blog.example", "*.example", ".example", "a..example", "-a.example", "null"),
        *("a b.example", "a.example?x", "a.example#x", "a" * 64 + ".example", "a." * 122 + "example", "\x00.example"),
    ],
)
def test_what_is_no_host_with_a_domain_is_refused(
    names: NameServer, community: Community, moderator: Account, sent: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        add_host(community_id=community.pk, host=sent, by=moderator)
    assert refusal.value.fields["field"] == "host"
    assert not HostProof.objects.exists()


def test_only_moderators_and_super_admins_decide(names: NameServer, proof: HostProof, moderator: Account) -> None:
    of_another = PersonFactory()
    Moderator.objects.create(community=CommunityFactory(), account=of_another)
    calls: dict[Any, dict[str, str]] = {
        add_host: {"host": "other.example"},
        ask_for_check: {"host": "blog.example"},
        remove_host: {"host": "blog.example"},
        hosts_of: {},
    }
    for service, arguments in calls.items():
        for by in (PersonFactory(), of_another):
            with pytest.raises(ModeratorRequired):
                service(community_id=proof.community_id, by=by, **arguments)
        with pytest.raises(CommunityNotFound):
            service(community_id=UNKNOWN, by=SuperAdminFactory(), **arguments)
    assert hosts_of(community_id=proof.community_id, by=SuperAdminFactory()) == [proof]
    remove_host(community_id=proof.community_id, host="www.blog.example", by=moderator)
    for service in (ask_for_check, remove_host):
        for host in ("blog.example", "other.example", "", "x y"):
            with pytest.raises(HostNotFound):
                service(community_id=proof.community_id, host=host, by=moderator)


def test_a_community_has_at_most_20_hosts(names: NameServer, community: Community, moderator: Account) -> None:
    for n in range(HOSTS_MAX):
        add_host(community_id=community.pk, host=f"h{n}.example", by=moderator)
    with pytest.raises(TooManyHosts):
        add_host(community_id=community.pk, host="one.more.example", by=moderator)
    # One that it has is no other one, and other communities have their own.
    add_host(community_id=community.pk, host="h0.example", by=moderator)
    add_host(community_id=CommunityFactory().pk, host="one.more.example", by=SuperAdminFactory())
    assert HostProof.objects.filter(community=community).count() == HOSTS_MAX


@pytest.mark.django_db(transaction=True)
def test_one_host_that_is_added_twice_at_once_is_one(
    names: NameServer, community: Community, moderator: Account
) -> None:
    from django.db import connections

    def add(n: int) -> UUID:
        try:
            return add_host(community_id=community.pk, host="blog.example", by=moderator).pk
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(add, range(4)))) == 1
    assert HostProof.objects.count() == 1


def test_a_look_is_asked_for_at_most_every_15_seconds(names: NameServer, proof: HostProof, moderator: Account) -> None:
    check_hosts()
    names.records[proof.record_name] = [proof.record_value]
    assert check_hosts() == 0
    ask = {"community_id": proof.community_id, "host": "blog.example", "by": moderator}
    ask_for_check(**ask)
    with pytest.raises(RateLimited) as refusal:
        ask_for_check(**ask)
    assert 0 < refusal.value.fields["retryAfter"] <= ASK_SECONDS
    assert check_hosts() == 1
    assert is_proved(proof)
    age(proof, seconds=ASK_SECONDS)
    assert ask_for_check(**ask).asked_at is not None


@pytest.mark.usefixtures("empty_queue")
def test_a_look_that_is_asked_for_is_a_job(proof: HostProof, moderator: Account) -> None:
    ask_for_check(community_id=proof.community_id, host="blog.example", by=moderator)
    assert list(ProcrastinateJob.objects.values_list("task_name", "status")) == [("check_hosts", "todo")]
    proof.refresh_from_db()
    assert (proof.is_checking, proof.checked_at) == (True, None)


def test_no_record_is_looked_for_early_by_a_clock_that_is_ahead(
    names: NameServer, proof: HostProof, monkeypatch: pytest.MonkeyPatch
) -> None:
    names.records[proof.record_name] = [proof.record_value]
    assert check_hosts() == 1
    later = timezone.now() + timedelta(days=8)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert check_hosts() == 0
    HostProof.objects.update(checked_at=database_now() - timedelta(days=7, hours=1))
    assert check_hosts() == 1
    assert HostProof.objects.filter(checked_at__lt=later - timedelta(days=7)).exists()


def test_without_domain_checks_nothing_is_asked_or_proved(
    names: NameServer, proof: HostProof, moderator: Account, settings: Any
) -> None:
    names.records[proof.record_name] = [proof.record_value]
    check_hosts()
    names.asked.clear()
    settings.DOMAIN_CHECKS = False
    HostProof.objects.update(asked_at=database_now() - timedelta(minutes=1), checked_at=None)
    assert check_hosts() == 0
    assert names.asked == []
    assert not is_proved(proof)
    for service in (add_host, ask_for_check):
        with pytest.raises(DomainChecksOff):
            service(community_id=proof.community_id, host="blog.example", by=moderator)
    # What was added can be seen and removed.
    assert hosts_of(community_id=proof.community_id, by=moderator) == [proof]
    remove_host(community_id=proof.community_id, host="blog.example", by=moderator)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("192.0.2.53", ("192.0.2.53", 53)),
        ("127.0.0.1:5353", ("127.0.0.1", 5353)),
        ("[::1]:5353", ("::1", 5353)),
        ("[2001:db8::1]", ("2001:db8::1", 53)),
        ("2001:db8::1", ("2001:db8::1", 53)),
    ],
)
def test_the_resolver_is_an_address(monkeypatch: pytest.MonkeyPatch, text: str, expected: Any) -> None:
    monkeypatch.setenv("DOMAIN_RESOLVER", text)
    assert env.resolver("DOMAIN_RESOLVER") == expected


@pytest.mark.parametrize(
    "text", ["dns.example", "192.0.2.53:0", "192.0.2.53:65536", "192.0.2.999", "[::1", "::1]:5", ":53"]
)
def test_another_resolver_stops_the_start(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("DOMAIN_RESOLVER", text)
    with pytest.raises(ImproperlyConfigured, match="DOMAIN_RESOLVER"):
        env.resolver("DOMAIN_RESOLVER")
