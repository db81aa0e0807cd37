"""Faults of webhooks: a receiver that is slow, fails, redirects or is gone, and a deliverer that is killed.

Posts are written meanwhile. Afterwards every event has arrived at least once, and their first arrivals are in order;
the webhook of another owner, whose receiver is well, gets every event during the fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil
import psycopg

from tests.clients import Clients, Person
from tests.faults.environment import SETTINGS
from tests.faults.hosts import SECRETS
from tests.service import Service, running_service
from tests.webhooks.receiver import Receiver, running_receiver, silence, status

POSTS = 5
# The pause after a first failure is 5 s, after a second one 15 s; the lease of a killed deliverer lasts 15 s.
PATIENCE_SECONDS = 90
LAYOUT = "{:<28}{:>6}{:>10}{:>12}{:>14}{:>10}{:>14}"
HEADINGS = LAYOUT.format("webhooks", "times", "events", "requests", "undelivered", "back in", "other owner")
COMMUNITY = "SELECT id::text FROM messaging_community WHERE slug = 'with-webhooks'"


@dataclass(slots=True)
class Hook:
    """A webhook of an owner, and its receiver. `expected` are the posts in the order of their commits."""

    owner: Person
    id: str
    receiver: Receiver
    expected: list[str] = field(default_factory=list)

    def arrived(self) -> list[str]:
        items = [request.json for request in self.receiver.received]
        return list(dict.fromkeys(item["messageId"] for item in items if "messageId" in item))

    def wait(self) -> float:
        """Wait until all events have arrived; returns the seconds."""
        began = time.monotonic()
        while self.arrived() != self.expected and time.monotonic() < began + PATIENCE_SECONDS:
            time.sleep(0.01)
        return time.monotonic() - began


@dataclass(slots=True)
class Stage:
    service: Service
    clients: Clients
    community_id: str
    page_id: str
    disturbed: Hook
    other: Hook

    def post(self) -> None:
        self.clients.reconnect()
        for _ in range(POSTS):
            body = {"pageId": self.page_id, "communityId": self.community_id, "content": "An event"}
            post = self.clients.ask("/api/messages", body, **self.disturbed.owner.user)["id"]
            self.disturbed.expected.append(post)
            self.other.expected.append(post)

    def deliverer(self) -> psutil.Process:
        assert self.service.process
        while True:
            for child in psutil.Process(self.service.process.pid).children(recursive=True):
                if "deliver_webhooks" in " ".join(child.cmdline()):
                    return child
            time.sleep(0.05)


Fault = Callable[[Stage], None]


def receiver_slow(stage: Stage) -> None:
    _disturb(stage, silence(8))


def receiver_failing(stage: Stage) -> None:
    _disturb(stage, status(500))


def receiver_redirecting(stage: Stage) -> None:
    _disturb(stage, status(302, Location=stage.other.receiver.url))


def receiver_gone(stage: Stage) -> None:
    """The webhook is disabled; a test by its owner makes it active again."""
    _disturb(stage, status(410))
    hook = stage.disturbed
    stage.clients.reconnect()
    stage.clients.ask(f"/v1/webhooks/{hook.id}/test", {}, accepted=(202,), **hook.owner.user)


def deliverer_killed(stage: Stage) -> None:
    stage.post()
    stage.deliverer().kill()
    stage.post()


def _disturb(stage: Stage, respond: Any) -> None:
    """Exchange the response for as long as one request and the posts of another owner take."""
    hook = stage.disturbed
    seen, before = len(hook.receiver.received), hook.receiver.respond
    hook.receiver.respond = respond
    stage.post()
    hook.receiver.wait_for(seen + 1, seconds=PATIENCE_SECONDS)
    stage.other.wait()
    hook.receiver.respond = before


FAULTS: dict[Fault, int] = {
    receiver_slow: 5,
    receiver_failing: 5,
    receiver_redirecting: 5,
    receiver_gone: 5,
    deliverer_killed: 10,
}


@dataclass(frozen=True, slots=True)
class Result:
    kind: str
    times: int
    events: int
    requests: int
    undelivered: int
    recovered: float
    other: float

    @property
    def is_good(self) -> bool:
        return self.undelivered == 0

    def __str__(self) -> str:
        waits = f"{self.recovered:.1f} s", f"{self.other:.1f} s"
        return LAYOUT.format(self.kind, self.times, self.events, self.requests, self.undelivered, *waits)


def play(stage: Stage, fault: Fault, *, times: int) -> Result:
    recovered = other = 0.0
    events, requests = len(stage.disturbed.expected), len(stage.disturbed.receiver.received)
    for _ in range(times):
        stage.post()
        fault(stage)
        recovered = max(recovered, stage.disturbed.wait())
        other = max(other, stage.other.wait())
    return Result(
        kind=fault.__name__.replace("_", " "),
        times=times,
        events=len(stage.disturbed.expected) - events,
        requests=len(stage.disturbed.receiver.received) - requests,
        undelivered=sum(
            hook.arrived()[: len(hook.expected)] != hook.expected for hook in (stage.disturbed, stage.other)
        ),
        recovered=recovered,
        other=other,
    )


@contextmanager
def a_stage() -> Iterator[Stage]:
    variables = SETTINGS | SECRETS | {"WEBHOOKS": "1", "WEBHOOKS_ALLOW_LOCAL": "1"}
    with ExitStack() as running:
        receivers = [running.enter_context(running_receiver()) for _ in range(2)]
        service = running.enter_context(running_service(**variables))
        clients = Clients(service)
        clients.manage("create_community", "With webhooks")
        with psycopg.connect(service.cluster.url) as connection:
            ((community_id,),) = connection.execute(COMMUNITY).fetchall()
        hooks = [_hook(clients, str(community_id), receiver) for receiver in receivers]
        page_id = clients.page_id("https://example.com/with-webhooks")
        yield Stage(service, clients, str(community_id), page_id, *hooks)


def _hook(clients: Clients, community_id: str, receiver: Receiver) -> Hook:
    owner = clients.person()
    embed = clients.ask("/api/embeds/instances", {"name": "E", "communityId": community_id}, **owner.signed_in)
    webhook = clients.ask("/v1/webhooks", {"url": receiver.url, "embedId": embed["id"]}, **owner.user)
    return Hook(owner, webhook["id"], receiver)
