"""The short form of `make fuzz`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import content, contract, hostile, weights
from tests.fuzz.scenario import a_scenario
from tests.nginx import needs_nginx, nginx_before

pytestmark = [pytest.mark.slow, pytest.mark.processes]

HOSTILE, CONTENT, WEIGHED, SEED = 200, 10, 6, 1
# Starts at each chain of operations, and the operations that the chains must reach of their forty.
FOLLOWED, OPERATIONS = 4, 28
# The chain of an agent's posts has the same links.
CHAINS = [chain for chain in contract.CHAINS if chain != ("person", ("addReaction", "removeReaction"))]


@needs_nginx
def test_generated_requests_get_valid_responses(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """One test, because starting the service dominates its duration."""
    with a_scenario() as scenario, nginx_before(scenario.service.port) as proxy:
        for name, port in (("service", scenario.service.port), ("proxy", proxy)):
            with subtests.test(name):
                tallies = hostile.fuzz(scenario, port=port, count=HOSTILE, seed=SEED)
                assert [wrong for tally in tallies.values() for wrong in tally.wrong] == []
        with subtests.test("content"):
            tallies = content.fuzz(scenario, count=CONTENT, seed=SEED)
            assert [wrong for tally in tallies.values() for wrong in tally.wrong] == []
            assert all(tally.statuses[201] or tally.statuses[200] for tally in tallies.values())
        with subtests.test("against the document"):
            result = contract.fuzz(scenario, "agent", examples=2, home=tmp_path, phases="fuzzing", seed=SEED)
            assert result.failures == 0, result.output
            assert result.cases > 50
        with subtests.test("weights"):
            assert not [
                wrong for problems in weights.fuzz(scenario, count=WEIGHED, seed=SEED).values() for wrong in problems
            ]
        with subtests.test("along its links"):
            called: set[str] = set()
            for chain in CHAINS:
                result = contract.follow_links(scenario, chain, examples=FOLLOWED, home=tmp_path, seed=SEED)
                assert result.failures == 0, result.output
                called |= result.called
            assert len(called) >= OPERATIONS, sorted(called)
        assert "Traceback" not in scenario.service.said()
