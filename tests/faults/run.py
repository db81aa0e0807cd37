"""One kind of fault, put in under load as often as asked, and the verdict on it."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

from tests.faults.environment import Environment
from tests.faults.faults import ANSWERED_THROUGHOUT, ON_TWO_HOSTS, THROUGH_PROXY, Fault
from tests.faults.invariants import Verdict, judge, ledger
from tests.faults.load import Load, Notes

WRITERS = 6
ROOTS = 4
LOST_ANSWERS = 0.05
PAGE_URL = "https://example.com/under-load"


@dataclass(slots=True)
class Round:
    """What one kind of fault came to. `recovered`: the longest time until every writer was served again, in seconds.

    `may_refuse`: whether a 503 is an answer to this kind.
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
class Company:
    """The agents who write on a stage, and the posts that they answer."""

    page_id: str
    tokens: list[str]
    roots: list[str]

    @classmethod
    def of(cls, environment: Environment) -> Company:
        page_id = environment.clients.page_id(PAGE_URL)
        writer = environment.clients.person()
        posts = [{"pageId": page_id, "content": f"root {number}"} for number in range(ROOTS)]
        roots = [environment.clients.ask("/api/messages", post, **writer.user)["id"] for post in posts]
        return cls(page_id, [environment.clients.agent_token() for _ in range(WRITERS)], roots)


def play(environment: Environment, company: Company, fault: Fault, *, times: int) -> Round:
    """The faults come at random moments of the load; the next one only when the service is healthy again."""
    spent = ledger(environment)
    done = Round(fault.__name__.replace("_", " "), times, may_refuse=fault not in ANSWERED_THROUGHOUT)
    ports = [environment.proxy_port if fault in THROUGH_PROXY else environment.service.port]
    if fault in ON_TWO_HOSTS:
        ports.append(environment.second_host().port)
    with Load(ports=ports, tokens=company.tokens, page_id=company.page_id, roots=company.roots) as load:
        load.lose_answers(LOST_ANSWERS)
        load.wait_until_healthy()
        for _ in range(times):
            time.sleep(random.uniform(0, 0.3))
            fault(environment)
            done.recovered = max(done.recovered, load.wait_until_healthy())
    done.notes = load.notes
    done.verdict = judge(environment, load.notes.writes, since=spent)
    return done
