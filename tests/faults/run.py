"""Injects one kind of fault under load several times, and checks the guarantees."""

from __future__ import annotations

import random
import time
from contextlib import nullcontext
from dataclasses import dataclass, field

from tests.faults.environment import Environment
from tests.faults.faults import ANSWERED_THROUGHOUT, FOLLOWED, ON_TWO_HOSTS, THROUGH_PROXY, Fault
from tests.faults.invariants import Verdict, judge, ledger
from tests.faults.load import Load, Notes
from tests.streams.follower import Follower

WRITERS = 6
ROOTS = 4
LOST_ANSWERS = 0.05
PAGE_URL = "https://example.com/under-load"


@dataclass(slots=True)
class Round:
    """The result of one kind of fault. `recovered`: the longest time in seconds until every writer was served again.

    `may_refuse`: whether this kind may cause a 503.
    """

    kind: str
    times: int
    may_refuse: bool = True
    recovered: float = 0.0
    notes: Notes = field(default_factory=Notes)
    verdict: Verdict = field(default_factory=Verdict)

    @property
    def is_good(self) -> bool:
        refused = any(status >= 500 for status in self.notes.statuses)
        return self.verdict == Verdict() and not self.notes.surprises and (self.may_refuse or not refused)


@dataclass(slots=True)
class Writers:
    """The tokens of the writing agents, and the posts to which they reply."""

    page_id: str
    tokens: list[str]
    roots: list[str]

    @classmethod
    def of(cls, environment: Environment) -> Writers:
        page_id = environment.clients.page_id(PAGE_URL)
        author = environment.clients.person()
        posts = [{"pageId": page_id, "content": f"root {number}"} for number in range(ROOTS)]
        roots = [environment.clients.ask("/api/messages", post, **author.user)["id"] for post in posts]
        return cls(page_id, [environment.clients.agent_token() for _ in range(WRITERS)], roots)


def play(environment: Environment, writers: Writers, fault: Fault, *, times: int) -> Round:
    """Inject the fault at random moments; each time wait until the service is healthy again."""
    charged = ledger(environment)
    finished = Round(fault.__name__.replace("_", " "), times, may_refuse=fault not in ANSWERED_THROUGHOUT)
    ports = [environment.proxy_port if fault in THROUGH_PROXY else environment.service.port]
    if fault in ON_TWO_HOSTS:
        ports.append(environment.second_host().port)
    follower = Follower(environment.service, writers.page_id) if fault in FOLLOWED else None
    with follower or nullcontext():
        with Load(ports=ports, tokens=writers.tokens, page_id=writers.page_id, roots=writers.roots) as load:
            load.lose_answers(LOST_ANSWERS)
            load.wait_until_healthy()
            for _ in range(times):
                time.sleep(random.uniform(0, 0.3))
                fault(environment)
                finished.recovered = max(finished.recovered, load.wait_until_healthy())
        finished.notes = load.notes
        finished.verdict = judge(environment, load.notes.writes, charged_before=charged)
        if follower is not None:
            check_stream(follower, finished)
    return finished


def check_stream(follower: Follower, finished: Round) -> None:
    posts = [write.reply.json["id"] for write in finished.notes.writes if write.path == "/api/messages" and write.reply]
    follower.wait_for(posts)
    finished.verdict.unstreamed = sum(follower.posts[post] == 0 for post in posts)
    finished.verdict.streamed_again = sum(max(0, follower.posts[post] - 1) for post in posts)
