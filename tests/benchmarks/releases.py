"""`make bench-releases BENCH=COMMIT`: does an operation cost more than in another release?

Checks the other release out to a temporary folder, and measures both in turn with a PostgreSQL and a copy of the data
each, but the dependencies of this one. What counts is the processor time of Python and PostgreSQL for one call, in the
round with the least: other load on the machine only adds to it. Fails if an operation costs more than `--more` percent
more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks import progress
from tests.benchmarks.servers import SECRETS
from tests.service import ROOT
from tests.temporary_cluster import TemporaryCluster

# The responses of reads come from PostgreSQL: the same setting by the names of this release and of earlier ones.
UNCACHED = {"RESPONSE_CACHE_MEGABYTES": "0", "KEPT_ANSWER_MEGABYTES": "0"}
OPERATIONS = Path(__file__).with_name("operations.py")
# The processor time of each operation: of Python and of PostgreSQL.
Times = dict[str, tuple[float, float]]


class Release:
    """A checkout, and its own database."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.folder, self.cluster = folder, TemporaryCluster()
        postmaster = (self.cluster.cluster.folder / "postmaster.pid").read_text().partition("\n")[0]
        settings = {"STATEMENT_TIMEOUT": "0", "DATABASE_URL": self.cluster.url, "POSTMASTER_PID": postmaster}
        # The folder of a script is not on the path (-P), the checkout is.
        python = {"PYTHONPATH": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings", "DATA_DIR": str(data)}
        self.environment = os.environ | SECRETS | UNCACHED | settings | python
        self.run("manage.py", "migrate", "--verbosity=0")

    def measure(self, calls: int, posts: int) -> Times:
        times: Times = json.loads(self.run(str(OPERATIONS), str(calls), str(posts)).splitlines()[-1])
        return times

    def run(self, *arguments: str) -> str:
        command = [sys.executable, "-P", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def close(self) -> None:
        self.cluster.close()


@contextmanager
def both(commit: str) -> Iterator[tuple[Release, Release]]:
    with TemporaryDirectory(prefix="cm-releases-") as home:
        other = Path(home) / "other"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", other, commit], cwd=ROOT, check=True)
        releases: list[Release] = []
        try:
            for name, folder in (("other-data", other), ("this-data", ROOT)):
                releases.append(Release(folder, Path(home) / name))
            yield releases[0], releases[1]
        finally:
            for release in releases:
                release.close()
            subprocess.run(["git", "worktree", "remove", "--force", other], cwd=ROOT, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-releases", description=__doc__)
    parser.add_argument("commit", help="the other release")
    parser.add_argument("--rounds", type=int, default=8, help="the best of them counts (default 8)")
    parser.add_argument("--calls", type=int, default=1_000, help="of each operation in a round (default 1,000)")
    parser.add_argument("--posts", type=int, default=10_000, help="in the database (default 10,000)")
    parser.add_argument("--more", type=float, default=5, help="how many percent more are accepted (default 5)")
    options = parser.parse_args()
    times: list[tuple[Times, Times]] = []
    with both(options.commit) as releases:
        for number in range(options.rounds):
            # In turn, so that no release always runs first.
            order = releases if number % 2 else releases[::-1]
            measured = {release: release.measure(options.calls, options.posts) for release in order}
            times.append((measured[releases[0]], measured[releases[1]]))
            progress.show("rounds", number + 1, options.rounds)
    sys.exit(0 if report(times, more=options.more) else 1)


def report(times: list[tuple[Times, Times]], *, more: float) -> bool:
    """Print the table; returns whether no operation costs more than accepted. `times`: (other, this) of each round."""
    is_met = True
    sys.stdout.write(f"{'processor µs of one call':<28}{'other':>14}{'this':>14}{'change':>9}\n")
    for name in times[0][1]:
        other, this = (min((each[place][name] for each in times), key=sum) for place in (0, 1))
        change = (sum(this) / sum(other) - 1) * 100
        is_met = is_met and change <= more
        row = f"{name:<28}{shown(other):>14}{shown(this):>14}{change:>+8.1f}%"
        sys.stdout.write(f"{row}{'' if change <= more else '  FAILS'}\n")
    return is_met


def shown(times: tuple[float, float]) -> str:
    return f"{times[0]:,.0f} + {times[1]:,.0f}"


if __name__ == "__main__":
    main()
