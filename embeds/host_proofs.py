"""Hosts that communities prove to be their own: a TXT record that only the owner of the domain can set.

The record of `example.com` is at `_community.example.com` and says `community-verification=` and the token of the
community. It proves this host, with and without `www.`, and no other one: what is below a domain may belong to others.

Looks up the TXT records of a name: it asks another machine, so no transaction is open meanwhile.

The sites of a community: what the embeds of its moderators say of the hosts of its pages.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import chain
from math import ceil
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Greatest
from dns.exception import DNSException
from dns.resolver import NXDOMAIN, NoAnswer, Resolver

from embeds import domains
from embeds.exceptions import DomainChecksOff, HostNotFound, TooManyHosts
from embeds.models import LABEL, LOST_AFTER, VALUE_MAX, VALUES_MAX, Embed, EmbedStatus, HostProof, HostState
from kernel.admin.audit import log_decision
from kernel.api.exceptions import InvalidInput, RateLimited
from kernel.database.sql import database_now
from kernel.jobs.queue import enqueue
from kernel.writes.transaction import retried
from messaging.communities.moderators import moderated_community
from messaging.models import Account, Moderator

CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class NoAnswerInTime(Exception):
    """The name servers did not answer, or refused to."""


def values_of(name: str) -> list[str]:
    """Return the values of the TXT records of a name, none if it has no such record; raises NoAnswerInTime."""
    try:
        answer = _resolver().resolve(f"{name}.", "TXT", search=False, lifetime=settings.DOMAIN_TIMEOUT)
    except (NXDOMAIN, NoAnswer):
        return []
    except (DNSException, OSError) as failure:
        raise NoAnswerInTime(str(failure)) from failure
    # Records have no order, and a value of more than 255 bytes has several parts. PostgreSQL stores no null character.
    values = (b"".join(record.strings).decode("ascii", "backslashreplace") for record in answer)
    return sorted(CONTROL.sub("?", value) for value in values)


def _resolver() -> Resolver:
    """A new one each time: it reads the configuration of the system, and has no cache."""
    if settings.DOMAIN_RESOLVER is None:
        return Resolver()
    resolver = Resolver(configure=False)
    address, port = settings.DOMAIN_RESOLVER
    resolver.nameservers, resolver.port = [address], port
    return resolver


def whitelisted(community_id: UUID) -> frozenset[str]:
    """The entries of the whitelists of all embeds together. An embed without a whitelist names no host."""
    return frozenset(chain.from_iterable(_own(community_id).values_list("domain_whitelist", flat=True)))


def is_named(host: str, entries: Collection[str]) -> bool:
    """Whether an entry matches the host, with its port unless that is the default, with or without `www.`.

    Normalised addresses of pages have no `www.`, so a widget on `www.example.com` belongs to pages of `example.com`.
    """
    return bool(entries) and any(domains.is_allowed(name, whitelist=entries, blacklist=()) for name in _names(host))


def _names(host: str) -> tuple[str, ...]:
    return (host,) if host == domains.OPAQUE else (host, f"www.{host}")


def _own(community_id: UUID) -> QuerySet[Embed]:
    """Not those of strangers, who may name any host, and not those that a super admin has disabled."""
    moderators = Moderator.objects.filter(community=community_id).values("account")
    owned = Q(owner__in=moderators) | Q(owner__is_superuser=True)
    embeds = Embed.objects.live().exclude(status=EmbedStatus.DISABLED)
    return embeds.filter(owned, community=community_id).order_by("pk")


COMMAND = "check_hosts"
HOSTS_MAX = 20
NAME = re.compile(r"(?=.*\.[a-z])[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)+\Z")
# The name of the record has at most HOST_MAX characters.
NAME_MAX = domains.HOST_MAX - len(f"{LABEL}.")
ASK_SECONDS = 15
COUNTER = "host_check"
# How often a record is looked for: one that was found at the last look, and one that was not, while that matters.
FOUND_EVERY = timedelta(days=7)
MISSING_EVERY = timedelta(days=1)
# A run of the command ends after this time, and leaves the rest to the next one. Name servers may be slow.
RUN_SECONDS = 120
THREADS = 8
BATCH = 40


def hosts_of(*, community_id: UUID, by: Account) -> list[HostProof]:
    """The hosts of a community. Raises CommunityNotFound (404), ModeratorRequired (403)."""
    moderated_community(community_id=community_id, by=by)
    return list(HostProof.objects.of_community(community_id))


@retried
@transaction.atomic
def add_host(*, community_id: UUID, host: str, by: Account) -> HostProof:
    """Give a community a token for the record of a host. Repeated, it changes nothing.

    Raises CommunityNotFound (404), ModeratorRequired and DomainChecksOff (403), InvalidInput (400), TooManyHosts (409).
    """
    community = moderated_community(community_id=community_id, by=by, lock=True)
    _require_checks()
    name = _checked(host)
    proofs = {proof.host: proof for proof in HostProof.objects.of_community(community_id)}
    if name in proofs:
        return proofs[name]
    if len(proofs) >= HOSTS_MAX:
        raise TooManyHosts(max=HOSTS_MAX)
    proof = HostProof.objects.create(community=community, host=name, token=secrets.token_hex(16))
    log_decision(by=by, about=community, verb=f"Host {name} added")
    return proof


@retried
@transaction.atomic
def ask_for_check(*, community_id: UUID, host: str, by: Account) -> HostProof:
    """Look for the record soon, in a process beside the requests.

    Raises CommunityNotFound and HostNotFound (404), ModeratorRequired and DomainChecksOff (403), and RateLimited (429)
    if it was asked for in the last ASK_SECONDS.
    """
    moderated_community(community_id=community_id, by=by)
    _require_checks()
    proof = _locked(community_id, host)
    now = database_now()
    left = ASK_SECONDS - (now - proof.asked_at).total_seconds() if proof.asked_at else 0
    if left > 0:
        raise RateLimited(retry_after=ceil(left), counter=COUNTER, limit=1)
    proof.asked_at = now
    proof.save(update_fields=["asked_at"])
    enqueue(COMMAND)
    return proof


@retried
@transaction.atomic
def remove_host(*, community_id: UUID, host: str, by: Account) -> HostProof:
    """End a proof; its token is void. Raises CommunityNotFound and HostNotFound (404), ModeratorRequired (403)."""
    community = moderated_community(community_id=community_id, by=by)
    proof = _locked(community_id, host)
    proof.delete()
    log_decision(by=by, about=community, verb=f"Host {proof.host} removed")
    return proof


def check_hosts(*, seconds: float = RUN_SECONDS) -> int:
    """Look for the records that are due; returns their number. Hosts whose moderators have asked come first."""
    end, started, number = time.monotonic() + seconds, database_now(), 0
    while settings.DOMAIN_CHECKS and time.monotonic() < end and (due := list(_due(started)[:BATCH])):
        # A look that a moderator asks for from now on is another one.
        at = database_now()
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(_look, due))
        for proof, (state, values) in zip(due, found, strict=True):
            _store(proof, state, values, at=at)
        number += len(due)
    return number


def _due(now: datetime) -> QuerySet[HostProof]:
    is_asked = Q(asked_at__isnull=False) & (Q(checked_at=None) | Q(asked_at__gt=F("checked_at")))
    is_found = Q(state=HostState.FOUND)
    matters = Greatest("created_at", "found_at")
    is_missing = ~is_found & (Q(checked_at=None) | Q(checked_at__lte=now - MISSING_EVERY))
    proofs = HostProof.objects.annotate(is_asked=is_asked, since=matters)
    due = (
        Q(is_asked=True) | is_found & Q(checked_at__lte=now - FOUND_EVERY) | is_missing & Q(since__gt=now - LOST_AFTER)
    )
    return proofs.filter(due).order_by("-is_asked", F("checked_at").asc(nulls_first=True), "id")


def _look(proof: HostProof) -> tuple[HostState, list[str]]:
    """What is at the name of the record. It runs in a thread, without the database."""
    try:
        values = values_of(proof.record_name)
    except NoAnswerInTime:
        return HostState.NO_ANSWER, []
    if proof.record_value in (value.strip() for value in values):
        return HostState.FOUND, []
    return (HostState.OTHER_VALUES if values else HostState.NO_RECORD), values


def _store(proof: HostProof, state: HostState, values: list[str], *, at: datetime) -> None:
    """Unless the proof was removed meanwhile, or another process has looked later."""
    fields: dict[str, Any] = {"state": state, "checked_at": at}
    fields["values"] = [value[:VALUE_MAX] for value in values[:VALUES_MAX]]
    if state is HostState.FOUND:
        goes_on = When(found_at__gt=at - LOST_AFTER, proved_at__isnull=False, then=F("proved_at"))
        fields |= {"found_at": at, "proved_at": Case(goes_on, default=Value(at))}
    earlier = Q(checked_at=None) | Q(checked_at__lte=at)
    HostProof.objects.filter(earlier, pk=proof.pk).update(**fields)


def _require_checks() -> None:
    if not settings.DOMAIN_CHECKS:
        raise DomainChecksOff


def _checked(host: str) -> str:
    """The name that is stored for a host. Raises InvalidInput (400)."""
    name = _name(host)
    if name is None or len(name) > NAME_MAX or not NAME.match(name) or domains.PORT.search(host):
        raise InvalidInput("Send a host such as blog.example, without scheme, port or path.", field="host")
    return name


def _name(host: str) -> str | None:
    try:
        return domains.bare_host(host.strip())
    except domains.InvalidDomain:
        return None


def _locked(community_id: UUID, host: str) -> HostProof:
    proofs = HostProof.objects.select_for_update().filter(community=community_id, host=_name(host) or "")
    proof = proofs.first()
    if proof is None:
        raise HostNotFound
    return proof
