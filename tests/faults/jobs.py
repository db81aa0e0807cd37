"""Faults of the worker while it runs a job of each kind: each effect happens once, and nothing waits for long."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psutil

from tests.faults.environment import Environment, an_environment
from tests.host_clock import AHEAD, moved
from tests.service import ROOT
from tests.waiting import PATIENCE_SECONDS

KINDS = ("exports", "records", "erasures", "desk_jobs", "imports", "prune")
# After a kill, every job that can go on has gone on.
BACK_MAX_SECONDS = 120
LAYOUT = "{:<31}{:>6}{:>9}  {}"
HEADINGS = LAYOUT.format("jobs", "times", "back in", "wrong")
OPEN = "SELECT task_name, status FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
SILENCE = "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'"


@dataclass(slots=True)
class Stage:
    """`is_brief`: a worker that was killed counts as silent at once, and not after 45 seconds."""

    environment: Environment
    is_brief: bool = False
    others: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def django(self, call: str) -> Any:
        """The JSON that a function of kinds_of_jobs.py prints."""
        code = f"from tests.faults import kinds_of_jobs; kinds_of_jobs.{call}"
        program = [sys.executable, "manage.py", "shell", "--verbosity=0", "--command", code]
        variables = self.environment.service.environment
        return json.loads(subprocess.run(program, cwd=ROOT, env=variables, check=True, stdout=subprocess.PIPE).stdout)

    def wait(self, is_over: Callable[[list[tuple[Any, ...]]], bool]) -> float:
        """Wait until that is so of the jobs that have not ended; returns the seconds."""
        began = time.monotonic()
        while not is_over(jobs := self.environment.rows(OPEN)):
            assert time.monotonic() < began + 2 * BACK_MAX_SECONDS, jobs
            time.sleep(0.05)
        return time.monotonic() - began

    def worker(self) -> psutil.Process:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (running := self.environment.service.supervised("worker")):
            assert time.monotonic() < deadline, "no worker runs"
            time.sleep(0.05)
        return running[0]

    def second_worker(self, **variables: str) -> None:
        variables = self.environment.service.environment | variables
        self.others.append(subprocess.Popen([sys.executable, "manage.py", "worker"], cwd=ROOT, env=variables))

    def kill_worker(self) -> None:
        self.worker().kill()
        if self.is_brief:
            self.environment.rows(SILENCE)

    def end_others(self) -> None:
        while self.others:
            other = self.others.pop()
            other.terminate()
            other.wait()


Fault = Callable[[Stage], None]


def killed_during(kind: str, stage: Stage) -> None:
    stage.wait(lambda jobs: (kind, "doing") in jobs or all(name != kind for name, _status in jobs))
    time.sleep(random.uniform(0, 2))
    stage.kill_worker()


def two_workers(stage: Stage) -> None:
    """Both run jobs, and one of them is killed."""
    stage.second_worker()
    killed_during("imports", stage)


def database_restarted(stage: Stage) -> None:
    stage.wait(lambda jobs: any(status == "doing" for _name, status in jobs))
    time.sleep(random.uniform(0, 2))
    stage.environment.service.cluster.stop()
    stage.environment.service.cluster.start()


def clock_ahead(seconds: int, stage: Stage) -> None:
    """The worker with another clock takes over what the killed one has begun."""
    stage.second_worker(**moved(seconds))
    killed_during("exports", stage)


FAULTS: dict[str, Fault] = {
    **{f"worker_killed_during_{kind}": partial(killed_during, kind) for kind in KINDS},
    "two_workers": two_workers,
    "database_restarted": database_restarted,
    **{f"clock_ahead_{seconds}_s": partial(clock_ahead, seconds) for seconds in AHEAD},
}
TIMES = 3


@dataclass(frozen=True, slots=True)
class Result:
    """`recovered`: the longest time in seconds from a fault until every job had ended."""

    kind: str
    times: int
    recovered: float
    wrong: list[str]

    @property
    def is_good(self) -> bool:
        return not self.wrong and self.recovered < BACK_MAX_SECONDS

    def __str__(self) -> str:
        return LAYOUT.format(self.kind.replace("_", " "), self.times, f"{self.recovered:.0f} s", ", ".join(self.wrong))


def play(stage: Stage, name: str, *, times: int) -> Result:
    recovered, wrong = 0.0, set[str]()
    for _ in range(times):
        begun = stage.django("begin()")
        FAULTS[name](stage)
        recovered = max(recovered, stage.wait(lambda jobs: not jobs))
        wrong |= set(stage.django(f"tell_wrong(**{begun})"))
        stage.end_others()
    return Result(name, times, recovered, sorted(wrong))


@contextmanager
def a_stage(*, is_brief: bool = False) -> Iterator[Stage]:
    with an_environment(STREAMS="0", WORKERS="1") as environment:
        stage = Stage(environment, is_brief)
        try:
            yield stage
        finally:
            stage.end_others()
