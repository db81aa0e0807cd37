"""Faults of webhooks: a receiver that is slow, fails, redirects or is gone, and a deliverer that is killed.

Posts are written meanwhile. Afterwards every event has been acknowledged, and the first acknowledgements are in order.
The webhook of another owner, whose receiver works, gets every event during the fault, and no request of the first one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import count, takewhile

import psutil
import psycopg

from tests.clients import Clients, Person
from tests.faults.environment import SETTINGS
from tests.faults.hosts import SECRETS
from tests.remote import Remote
from tests.service import Service, running_service
from tests.webhooks.receiver import Receiver, Respond, running_receiver, silence, status

POSTS = 5
# The pause after a first failure is 5 s, after a second one 15 s; the lease of a killed deliverer lasts 15 s.
PATIENCE_SECONDS = 90
# How long an attempt at a slow receiver takes: a deliverer that waits for it delivers no event of others before.
ATTEMPT_SECONDS = 5
LAYOUT = "{:<23}{:>6}{:>8}{:>10}{:>13}{:>11}{:>9}{:>13}"
HEADINGS = LAYOUT.format(
    "webhooks", "times", "events", "requests", "undelivered", "misrouted", "back in", "other owner"
)
_stages = count(1)


@dataclass(slots=True)
class Hook:
    """A webhook of an owner, and its receiver. `expected` are the posts in the order of their commits."""

    owner: Person
    id: str
    receiver: Receiver
    expected: list[str] = field(default_factory=list)

    def arrived(self) -> list[str]:
        """The posts whose events the receiver has acknowledged, in the order of the first acknowledgements."""
        items = [request.json for request in self.receiver.acknowledged() if request.body]
        return list(dict.fromkeys(item["messageId"] for item in items if "messageId" in item))

    def undelivered(self) -> int:
        """How many events are missing, or were acknowledged before an earlier one."""
        in_order = takewhile(lambda pair: pair[0] == pair[1], zip(self.arrived(), self.expected, strict=False))
        return len(self.expected) - len(list(in_order))

    def wait(self) -> float:
        """Wait until all events have been acknowledged, or PATIENCE_SECONDS; returns the seconds."""
        began = time.monotonic()
        while self.undelivered() and time.monotonic() < began + PATIENCE_SECONDS:
            time.sleep(0.01)
        return time.monotonic() - began


@dataclass(slots=True)
class Stage:
    """`ends_leases`: those of a killed deliverer end at once, and not after their fifteen seconds."""

    service: Service
    clients: Clients
    community_id: str
    page_id: str
    disturbed: Hook
    other: Hook
    ends_leases: bool = False

    def post(self) -> None:
        self.clients.reconnect()
        for _ in range(POSTS):
            body = {"pageId": self.page_id, "communityId": self.community_id, "content": "An event"}
            post = self.clients.ask("/api/messages", body, **self.disturbed.owner.user)["id"]
            self.disturbed.expected.append(post)
            self.other.expected.append(post)

    def deliverer(self) -> psutil.Process:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (running := self.service.supervised("worker")):
            assert time.monotonic() < deadline, "no deliverer runs"
            time.sleep(0.05)
        return running[0]

    def end_leases(self) -> None:
        with psycopg.connect(self.service.cluster.url) as session:
            session.execute("UPDATE messaging_webhook SET leased_until = now() WHERE leased_until > now()")

    def wait_until_disabled(self, hook: Hook) -> None:
        remote, deadline = Remote(self.service.port, hook.owner.user), time.monotonic() + PATIENCE_SECONDS
        while remote.call("GET", f"/v1/webhooks/{hook.id}").json["status"] != "disabled":
            assert time.monotonic() < deadline, "the webhook is not disabled"
            time.sleep(0.05)
        remote.close()


# Returns the seconds until the other owner had the events of the fault.
Fault = Callable[[Stage], float]


def receiver_slow(stage: Stage) -> float:
    return _disturb(stage, silence(8))


def receiver_failing(stage: Stage) -> float:
    return _disturb(stage, status(500))


def receiver_redirecting(stage: Stage) -> float:
    return _disturb(stage, status(302, Location=stage.other.receiver.url))


def receiver_gone(stage: Stage) -> float:
    """The webhook is disabled; a test by its owner makes it active again."""
    seconds, hook = _disturb(stage, status(410)), stage.disturbed
    stage.wait_until_disabled(hook)
    stage.clients.reconnect()
    stage.clients.ask(f"/v1/webhooks/{hook.id}/test", {}, accepted=(202,), **hook.owner.user)
    return seconds


def deliverer_killed(stage: Stage) -> float:
    stage.post()
    stage.deliverer().kill()
    if stage.ends_leases:
        stage.end_leases()
    stage.post()
    return stage.other.wait()


def _disturb(stage: Stage, respond: Respond) -> float:
    """Exchange the response until it was given once, and the other owner has all events."""
    receiver, disturbed = stage.disturbed.receiver, threading.Event()

    def disturb(handler: BaseHTTPRequestHandler) -> None:
        disturbed.set()
        respond(handler)

    before, receiver.respond, began = receiver.respond, disturb, time.monotonic()
    stage.post()
    assert disturbed.wait(PATIENCE_SECONDS), "no request has come during the fault"
    stage.other.wait()
    receiver.respond = before
    return time.monotonic() - began


FAULTS: dict[Fault, int] = {
    receiver_slow: 5,
    receiver_failing: 5,
    receiver_redirecting: 5,
    receiver_gone: 5,
    deliverer_killed: 10,
}
# It stops the deliveries of all owners.
DELAYING_ALL = {deliverer_killed}


@dataclass(frozen=True, slots=True)
class Result:
    """`undelivered`: events of both owners. `misrouted`: requests of the first owner that the other receiver got.

    `recovered`, `other`: the longest time in seconds from the end of a fault until the first owner had all events, and
    from its beginning until the other owner had them.
    """

    kind: str
    times: int
    events: int
    requests: int
    undelivered: int
    misrouted: int
    recovered: float
    other: float
    other_max: float

    @property
    def is_good(self) -> bool:
        return not self.undelivered and not self.misrouted and self.other < self.other_max

    def __str__(self) -> str:
        counts = self.times, self.events, self.requests, self.undelivered, self.misrouted
        return LAYOUT.format(self.kind, *counts, f"{self.recovered:.1f} s", f"{self.other:.1f} s")


def play(stage: Stage, fault: Fault, *, times: int) -> Result:
    recovered = other = 0.0
    events, requests = len(stage.disturbed.expected), len(stage.disturbed.receiver.received)
    for _ in range(times):
        stage.post()
        other = max(other, fault(stage))
        recovered = max(recovered, stage.disturbed.wait())
    return Result(
        kind=fault.__name__.replace("_", " "),
        times=times,
        events=len(stage.disturbed.expected) - events,
        requests=len(stage.disturbed.receiver.received) - requests,
        undelivered=stage.disturbed.undelivered() + stage.other.undelivered(),
        misrouted=misrouted(stage.disturbed, stage.other),
        recovered=recovered,
        other=other,
        other_max=PATIENCE_SECONDS if fault in DELAYING_ALL else ATTEMPT_SECONDS,
    )


def misrouted(hook: Hook, other: Hook) -> int:
    """The requests of a webhook at the receiver of another: an event has another id for each webhook."""
    ids = set(hook.receiver.first_ids())
    return sum(request.headers.get("webhook-id") in ids for request in other.receiver.received)


@contextmanager
def delivering_service() -> Iterator[Service]:
    variables = SETTINGS | SECRETS | {"WORKERS": "1", "WEBHOOKS": "1", "WEBHOOKS_ALLOW_LOCAL": "1"}
    with running_service(**variables) as service:
        yield service


@contextmanager
def a_stage(service: Service) -> Iterator[Stage]:
    """A community with the webhooks of two owners. Several stages of a service do not touch one another."""
    number, clients = next(_stages), Clients(service)
    with running_receiver() as disturbed, running_receiver() as other:
        founder = clients.person()
        community_id = clients.ask("/v1/communities", {"name": f"With webhooks {number}"}, **founder.user)["id"]
        page_id = clients.page_id(f"https://example.com/webhooks-{number}")
        first, second = (_hook(clients, community_id, receiver, founder) for receiver in (disturbed, other))
        yield Stage(service, clients, community_id, page_id, first, second)


def _hook(clients: Clients, community_id: str, receiver: Receiver, founder: Person) -> Hook:
    owner = clients.person()
    clients.ask(f"/v1/moderation/communities/{community_id}/moderators", {"handle": owner.handle}, **founder.user)
    embed = clients.ask("/api/embeds/instances", {"name": "E", "communityId": community_id}, **owner.signed_in)
    webhook = clients.ask("/v1/webhooks", {"url": receiver.url, "embedId": embed["id"]}, **owner.user)
    return Hook(owner, webhook["id"], receiver)
