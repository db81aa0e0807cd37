"""Runs state machines of Hypothesis against the service, each run in a savepoint that is rolled back."""

from __future__ import annotations

import os

from django.conf import settings
from django.db import transaction
from django.test import override_settings
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

# Soft throttles and hourly limits are tested elsewhere.
UNREACHED = 10_000_000


class ServiceMachine(RuleBasedStateMachine):
    """Each run starts from the state of the test's transaction."""

    def __init__(self) -> None:
        super().__init__()
        self._savepoint = transaction.savepoint()

    def teardown(self) -> None:
        transaction.savepoint_rollback(self._savepoint)


def run(machine: type[ServiceMachine], *, runs: int, steps: int) -> None:
    """`EFFORT` in the environment multiplies the runs (`make fuzz`); without it they are a third."""
    effort = os.environ.get("EFFORT")
    runs = runs * int(effort) if effort else -(-runs // 3)
    extent = hypothesis_settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        # A step is many statements: shrinking a failure would take minutes.
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
    )
    limits = dict.fromkeys(settings.HOURLY_LIMITS, UNREACHED)
    throttles = dict.fromkeys(settings.SOFT_THROTTLES, (UNREACHED, 60))
    with override_settings(HOURLY_LIMITS=limits, SOFT_THROTTLES=throttles):
        run_state_machine_as_test(machine, settings=extent)
