"""The short form of the faults of webhooks in `make faults`."""

from __future__ import annotations

import pytest

from tests.faults.webhooks import FAULTS, a_stage, play


def test_faults_of_receivers_and_deliverers_lose_no_event(subtests: pytest.Subtests) -> None:
    """One test, because starting the service dominates its duration."""
    with a_stage() as stage:
        for fault in FAULTS:
            with subtests.test(fault.__name__):
                result = play(stage, fault, times=1)
                assert result.is_good, f"{result}: {stage.disturbed.arrived()} {stage.disturbed.expected}"
                assert result.requests >= result.events
