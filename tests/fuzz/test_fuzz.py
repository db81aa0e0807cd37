"""The short form of `make fuzz`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import content, contract, hostile, weights
from tests.fuzz.scenario import a_scenario
from tests.nginx import needs_nginx, nginx_before

BENT, CONTENT, WEIGHED, SEED = 1_000, 20, 15, 1


@needs_nginx
def test_nothing_generated_upsets_the_running_service(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """In one test, since starting the service takes longest."""
    with a_scenario() as scenario, nginx_before(scenario.service.port) as proxy:
        for name, port in (("service", scenario.service.port), ("proxy", proxy)):
            with subtests.test(name):
                tallies = hostile.fuzz(scenario, port=port, count=BENT, seed=SEED)
                assert [wrong for tally in tallies.values() for wrong in tally.wrong] == []
        with subtests.test("content"):
            tallies = content.fuzz(scenario, count=CONTENT, seed=SEED)
            assert [wrong for tally in tallies.values() for wrong in tally.wrong] == []
            assert all(tally.statuses[201] or tally.statuses[200] for tally in tallies.values())
        with subtests.test("against the document"):
            done = contract.fuzz(scenario, "agent", examples=2, home=tmp_path, phases="fuzzing", seed=SEED)
            assert done.failures == 0, done.said
            assert done.cases > 50
        with subtests.test("along its links"):
            done = contract.follow_links(scenario, contract.CHAINS[1], examples=3, home=tmp_path, seed=SEED)
            assert done.failures == 0, done.said
        with subtests.test("weights"):
            assert not [wrong for found in weights.fuzz(scenario, count=WEIGHED, seed=SEED).values() for wrong in found]
        assert "Traceback" not in scenario.service.said()
