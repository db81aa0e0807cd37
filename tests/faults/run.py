"""Injects one kind of fault under load several times, and checks the guarantees."""

from __future__ import annotations

import math
import random
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.faults.environment import Environment
from tests.faults.faults import ANSWERED_THROUGHOUT, FOLLOWED, ON_TWO_HOSTS, SLOWEST, THROUGH_PROXY, Fault
from tests.faults.invariants import Verdict, judge, ledger
from tests.faults.load import PAUSE_SECONDS, Load
from tests.faults.notes import Notes, Write
from tests.faults.releases import host_of_next_release
from tests.streams.follower import Follower, ListFollower, StreamFollower

WRITERS = 6
ROOTS = 4
FOLLOW_SECONDS = 60
LOST_ANSWERS = 0.05
PAGE_URL = "https://example.com/under-load"


@dataclass(slots=True)
class Round:
    """The result of one kind of fault. `recovered`: the longest time in seconds until every writer was served again.

    `may_refuse`: whether this kind may cause a 503. `slowest`: the bound of the longest wait for one response.
    """

    kind: str
    times: int
    may_refuse: bool = True
    slowest: float = math.inf
    recovered: float = 0.0
    notes: Notes = field(default_factory=Notes)
    verdict: Verdict = field(default_factory=Verdict)

    @property
    def is_good(self) -> bool:
        refused = any(status >= 500 for status in self.notes.statuses)
        is_safe = self.verdict == Verdict() and not self.notes.surprises
        return is_safe and (self.may_refuse or not refused) and self.notes.slowest <= self.slowest


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


def play(
    environment: Environment, writers: Writers, fault: Fault, *, times: int, pause: float = PAUSE_SECONDS
) -> Round:
    """Inject the fault at random moments; each time wait until the service is healthy again."""
    charged = ledger(environment)
    may_refuse, slowest = fault not in ANSWERED_THROUGHOUT, SLOWEST.get(fault, math.inf)
    finished = Round(fault.__name__.replace("_", " "), times, may_refuse=may_refuse, slowest=slowest)
    ports = [environment.proxy_port if fault in THROUGH_PROXY else environment.service.port]
    if fault in ON_TWO_HOSTS:
        ports.append(host_of_next_release(environment).port)
    kinds = (StreamFollower, ListFollower) if fault in FOLLOWED else ()
    followers = [kind(environment.service, writers.page_id) for kind in kinds]
    with ExitStack() as following:
        for follower in followers:
            following.enter_context(follower)
        load = Load(ports=ports, tokens=writers.tokens, page_id=writers.page_id, roots=writers.roots, pause=pause)
        with load:
            load.lose_answers(LOST_ANSWERS)
            load.wait_until_healthy()
            for _ in range(times):
                for follower in followers:
                    wait_until_followed(follower, load.notes)
                time.sleep(random.uniform(0, 0.3))
                fault(environment)
                finished.recovered = max(finished.recovered, load.wait_until_healthy())
        finished.notes = load.notes
        finished.verdict = judge(environment, load.notes.writes, charged_before=charged)
        for follower in followers:
            check_follower(follower, finished)
    return finished


def wait_until_followed(follower: Follower, notes: Notes) -> None:
    """Wait until a post that was begun after this call has arrived: so the next fault cuts a running follower."""
    called, first = time.monotonic(), len(notes.writes)
    while not any(write.began > called and _post_of(write) in follower.posts for write in notes.writes[first:]):
        assert time.monotonic() < called + FOLLOW_SECONDS, "no posts arrive"
        time.sleep(0.02)


def check_follower(follower: Follower, finished: Round) -> None:
    posts = [post for write in finished.notes.writes if (post := _post_of(write)) is not None]
    follower.wait_for(posts)
    followed = list(follower.posts)
    finished.verdict.unfollowed += len(set(posts) - set(followed))
    finished.verdict.followed_again += len(followed) - len(set(followed))
    finished.verdict.misordered += not follower.is_in_order()


def _post_of(write: Write) -> str | None:
    return write.reply.json["id"] if write.path == "/api/messages" and write.reply else None
