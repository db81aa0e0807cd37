"""`make fuzz`: sends over 100,000 generated requests, and prints tables. Exits with 0 if no response was wrong."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

import psycopg

from tests.faults.invariants import SKEWED
from tests.fuzz import content, contract, hostile, weights
from tests.fuzz.contract import Fuzzed
from tests.fuzz.hostile import Tally
from tests.fuzz.scenario import Scenario, a_scenario
from tests.nginx import nginx_before

EXAMPLES = 60
HOSTILE = 90_000
WEIGHTS = 500
CONTENT = 1_000
LAYOUT = "{:<44}{:>8}{:>8}{:>7}{:>8}{:>6}{:>7}{:>10}"


def main() -> None:
    options = _options()
    # Run every `finally`: the service and nginx are separate processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with a_scenario() as scenario, nginx_before(scenario.service.port) as proxy, tempfile.TemporaryDirectory() as home:
        # First the generators that need the rows of the scenario: following links deletes some.
        tallies = content.fuzz(scenario, count=options.content, seed=options.seed)
        good = _print_tallies("Generated content", tallies)
        inputs = sum(tally.inputs for tally in tallies.values())
        weighed = weights.fuzz(scenario, count=options.weights, seed=options.seed)
        good &= _print_weighed(weighed, options.weights)
        inputs += options.weights * len(weighed)
        cases, sound = _against_the_document(scenario, options, Path(home))
        inputs, good = inputs + cases, good and sound
        for name, port in (("to the service", scenario.service.port), ("to the proxy", proxy)):
            tallies = hostile.fuzz(scenario, port=port, count=options.hostile // 2, seed=options.seed)
            good &= _print_tallies(f"Mutated requests {name}, by mutation", tallies)
            inputs += sum(tally.inputs for tally in tallies.values())
        good &= _is_sound(scenario)
    _print(f"\n{inputs} generated inputs. {'No failures.' if good else 'Failures: see above.'}")
    sys.exit(0 if good else 1)


def _against_the_document(scenario: Scenario, options: argparse.Namespace, home: Path) -> tuple[int, bool]:
    _print(f"{'Against the document, by caller':<44}{'cases':>8}{'wrong':>8}")
    cases, good = 0, True
    effort = {"examples": options.examples, "home": home, "seed": options.seed}
    for caller in scenario.callers:
        result = contract.fuzz(scenario, caller, **effort)
        cases, good = cases + result.cases, _print_fuzzed(caller, result) and good
    for caller, operations in contract.CHAINS:
        result = contract.follow_links(scenario, (caller, operations), **effort)
        cases, good = cases + result.cases, _print_fuzzed(f"{caller}: links from {operations[0]}", result) and good
    return cases, good


def _print_fuzzed(name: str, result: Fuzzed) -> bool:
    _print(f"{name:<44}{result.cases:>8}{result.failures:>8}")
    if result.failures:
        _print(result.output)
    return not result.failures


def _print_tallies(what: str, tallies: dict[str, Tally]) -> bool:
    headings = ("inputs", "2xx", "3xx", "4xx", "5xx", "wrong", "slowest")
    _print("\n" + LAYOUT.format(what, *headings))
    for name, tally in sorted(tallies.items()):
        groups = Counter(status // 100 for status in tally.statuses.elements())
        counts = (groups[2], groups[3], groups[4], groups[5], len(tally.wrong))
        _print(LAYOUT.format(name, tally.inputs, *counts, f"{tally.slowest * 1000:.0f} ms"))
        for example in tally.wrong[:5]:
            _print(f"    {example}")
    return not any(tally.wrong for tally in tallies.values())


def _print_weighed(weighed: dict[str, list[str]], count: int) -> bool:
    _print(f"\n{'Weights':<44}{'inputs':>8}{'wrong':>8}")
    for name, wrong in weighed.items():
        _print("\n    ".join([f"{name:<44}{count:>8}{len(wrong):>8}", *wrong[:5]]))
    return not any(weighed.values())


def _is_sound(scenario: Scenario) -> bool:
    """Whether the log has no traceback, and the counts on posts are those of the rows."""
    with psycopg.connect(scenario.service.cluster.url) as connection:
        skewed = connection.execute(SKEWED).fetchone() != (0,)
    defects = "Traceback" in scenario.service.said()
    if skewed or defects:
        _print(f"\nCounts that differ from their rows: {skewed}. Tracebacks in the log: {defects}.")
        _print(scenario.service.said()[-5_000:])
    return not skewed and not defects


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="per operation, phase and caller")
    parser.add_argument("--hostile", type=int, default=HOSTILE, help="mutated requests, half of them through the proxy")
    parser.add_argument("--weights", type=int, default=WEIGHTS, help="numbers, heavy bodies and uploads, each")
    parser.add_argument("--content", type=int, default=CONTENT, help="names; as many word lists, a tenth as many pages")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
