"""`make bench`: loads data, starts the servers, sends requests, prints the table. See docs/performance.md.

`make bench-ratios` measures nothing but the five ratios that a change must not make worse, in less than four minutes.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from config import env
from runtime.postgres import Cluster, embedded
from tests.benchmarks import data, load, progress, servers, streams, wrk
from tests.benchmarks.report import Measured, Round, Table
from tests.benchmarks.scenarios import RATIOS, Form, Scenario, everything, growing, large, list_of
from tests.benchmarks.wrk import Request
from tests.service import ROOT, Service

POSTS = (10_000, 100_000, 1_000_000)
WARM_SECONDS = 1
DEEP_PAGES = 999


class Bench:
    """All servers of one run."""

    def __init__(self, cluster: Cluster, bare: servers.Bare, services: dict[Form, Service], seconds: int) -> None:
        self.connection = data.connect(cluster.url)
        self.postgres = psutil.Process(int((cluster.folder / "postmaster.pid").read_text().partition("\n")[0]))
        self.bare, self.services, self.seconds = bare, services, seconds

    def measure(self, scenarios: Iterable[Scenario], *, rounds: int) -> Iterator[Measured]:
        """Measure each scenario in rounds: the bare application, the scenario `of`, the service."""
        known: dict[str, Scenario] = {}
        for scenario in scenarios:
            if scenario.form not in self.services:
                continue
            known[scenario.name] = scenario
            row = Measured(scenario, [], [], [])
            for number in range(rounds):
                if scenario.on_bare:
                    row.bare.append(self._run(self.bare.port, psutil.Process(self.bare.process.pid), scenario))
                if scenario.of:
                    row.other.append(self._serve(known[scenario.of]))
                row.ours.append(self._serve(scenario))
                progress.show(scenario.name, number + 1, rounds)
            yield row

    def _serve(self, scenario: Scenario) -> Round:
        service = self.services[scenario.form]
        assert service.process
        return self._run(service.port, psutil.Process(service.process.pid), scenario)

    def _run(self, port: int, server: psutil.Process, scenario: Scenario) -> Round:
        data.forget_writes(self.connection)
        wrk.run(port, scenario.requests, seconds=WARM_SECONDS)
        if not scenario.repeats:
            data.forget_writes(self.connection)
        before = servers.processor_seconds(server) + servers.processor_seconds(self.postgres)
        result = wrk.run(port, scenario.requests, seconds=self.seconds)
        used = servers.processor_seconds(server) + servers.processor_seconds(self.postgres) - before
        return Round(result, used / max(1.0, result.rate * self.seconds) * 1e6)


def etag_of(service: Service, request: Request) -> str:
    from urllib.request import urlopen

    with urlopen(service.base_url + request.path) as answer:
        return str(answer.headers["ETag"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--ratios", action="store_true", help="only these of 100,000 posts (see `make bench-ratios`)")
    quick = "--ratios" in sys.argv
    posts, seconds, rounds = (POSTS[1], 4, 3) if quick else (POSTS[-1], 10, 3)
    parser.add_argument("--posts", type=int, default=posts, help=f"how many (default {posts:,})")
    parser.add_argument("--seconds", type=int, default=seconds, help=f"per round (default {seconds})")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"their median counts (default {rounds})")
    parser.add_argument("--streams", type=int, default=streams.STREAMS, help="with events (default 1,000)")
    parser.add_argument("--idle", type=int, default=streams.IDLE_STREAMS, help="streams without (default 5,000)")
    options = parser.parse_args()
    # Run every `finally`: PostgreSQL and the servers are separate processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    wrk.require()
    home = env.folder("BENCH_DIR", ROOT / ".data" / "benchmark")
    os.environ |= servers.SECRETS | {"DJANGO_SETTINGS_MODULE": "config.settings", "STATEMENT_TIMEOUT": "0"}
    cluster = embedded(home)
    cluster.start()
    os.environ["DATABASE_URL"] = cluster.url
    try:
        met = bench(cluster, home, options)
    finally:
        cluster.stop()
    sys.exit(0 if met else 1)


def bench(cluster: Cluster, home: Path, options: argparse.Namespace) -> bool:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    stages = [posts for posts in POSTS if posts <= options.posts] or [options.posts]
    stages = stages[-1:] if options.ratios else stages
    with data.connect(cluster.url) as connection:
        load.load(connection, stages[0])
    with servers.running(home, cluster.url) as (bare, services):
        run = Bench(cluster, bare, services, options.seconds)
        if not options.ratios:
            _measure_sizes(run, stages)

        def etag(form: Form) -> str:
            return etag_of(services[form], list_of(0)) if form in services else ""

        table, pages = Table(), stages[-1] // data.POSTS_A_PAGE
        scenarios = everything(run.connection, pages=pages, etag=etag)
        chosen = (one for one in scenarios if one.name in RATIOS or not options.ratios)
        for row in run.measure(chosen, rounds=options.rounds):
            table.add(row)
        if options.ratios:
            return table.is_met
        for form, service in services.items():
            sys.stdout.write(f"memory of a worker, {form}: {servers.memory(service)} MB\n")
    # Alone on the machine, as the other servers would count for the reads beside the streams.
    with servers.with_streams(home, cluster.url) as service:
        has_streams = streams.measure(
            service, streams=options.streams, idle=options.idle, seconds=options.seconds, rounds=options.rounds
        )
    return table.is_met and has_streams


def _measure_sizes(run: Bench, stages: list[int]) -> None:
    """What must not depend on the number of posts, of replies and of reactions."""
    for posts in stages:
        load.load(run.connection, posts)
        for row in run.measure(growing(pages=posts // data.POSTS_A_PAGE), rounds=1):
            _print_rate(f"{posts:>9,} posts: {row.scenario.name}", row)
    load.load_large(run.connection)
    deep = data.deep_cursor(run.connection, page=data.BIG, pages=DEEP_PAGES)
    for row in run.measure(large(run.connection, deep), rounds=1):
        _print_rate(row.scenario.name, row)


def _print_rate(name: str, row: Measured) -> None:
    sys.stdout.write(f"{name:<56}{row.rate:>8,.0f} a second {row.ours[0].processor:>8,.0f} cpu µs\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
