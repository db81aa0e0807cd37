"""How a state machine of Hypothesis is run against the service, in a transaction that nothing survives."""

from __future__ import annotations

import os

from django.conf import settings
from django.db import transaction
from django.test import override_settings
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

# Soft throttles and hourly limits have tests of their own.
UNREACHED = 10_000_000


class ServiceMachine(RuleBasedStateMachine):
    """Each run of it starts where the test's own transaction stood."""

    def __init__(self) -> None:
        super().__init__()
        self._savepoint = transaction.savepoint()

    def teardown(self) -> None:
        transaction.savepoint_rollback(self._savepoint)


def run(machine: type[ServiceMachine], *, runs: int, steps: int) -> None:
    """`EFFORT` in the environment multiplies the runs (`make fuzz`)."""
    runs *= int(os.environ.get("EFFORT", "1"))
    effort = hypothesis_settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        # A step is many statements: making a failure shorter would take minutes.
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
    )
    limits = dict.fromkeys(settings.HOURLY_LIMITS, UNREACHED)
    throttles = dict.fromkeys(settings.SOFT_THROTTLES, (UNREACHED, 60))
    with override_settings(HOURLY_LIMITS=limits, SOFT_THROTTLES=throttles):
        run_state_machine_as_test(machine, settings=effort)  # type: ignore[no-untyped-call]
