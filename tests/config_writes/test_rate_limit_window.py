"""The hourly limits against a model: no hour has more events than the limit, for any sequence of charges."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.db import transaction
from django.test import override_settings
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from kernel.api.exceptions import AgentRateLimited
from kernel.writes.rate_limits import RateLimitCharge, usages_of
from kernel.writes.transaction import write_transaction
from tests.config_writes.clock import DatabaseClock

pytestmark = pytest.mark.slow

LIMITS = {"post": 2, "reply": 3, "quote": 1}
HOUR = timedelta(hours=1)
ACCOUNT = UUID(int=1)
COUNTERS = st.sets(st.sampled_from(sorted(LIMITS)), min_size=1).map(lambda names: tuple(sorted(names)))
# Whole hours plus and minus a second, which an off-by-one error would affect, and any other pause.
PAUSES = st.one_of(
    st.sampled_from([0.0, 0.000001, 1.0, 3599.0, 3599.999999, 3600.0, 3600.000001]),
    st.floats(0, 4000).map(lambda seconds: round(seconds, 3)),
)


class HourlyLimits(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.savepoint = transaction.savepoint()
        self.clock = DatabaseClock()
        self.charged: dict[str, list[datetime]] = {counter: [] for counter in LIMITS}

    def teardown(self) -> None:
        transaction.savepoint_rollback(self.savepoint)

    def in_window(self, counter: str, after: float = 0) -> int:
        """The events of a counter in the hour that ends `after` seconds from now."""
        start = self.clock.now + timedelta(seconds=after) - HOUR
        return sum(at > start for at in self.charged[counter])

    def has_remaining(self, counters: Iterable[str], after: float = 0) -> bool:
        return all(self.in_window(counter, after) < LIMITS[counter] for counter in counters)

    @rule(seconds=PAUSES)
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(counters=COUNTERS)
    def charge(self, counters: tuple[str, ...]) -> None:
        refusal = self._charge(counters)
        assert (refusal is None) == self.has_remaining(counters)
        if refusal is None:
            for counter in counters:
                self.charged[counter].append(self.clock.now)
            return
        seconds = int(refusal.headers["Retry-After"])
        assert 1 <= seconds <= 3600
        assert self.has_remaining(counters, after=seconds)
        assert not self.has_remaining(counters, after=seconds - 1)

    @rule(counters=COUNTERS)
    def fail_after_charge(self, counters: tuple[str, ...]) -> None:
        with transaction.atomic():
            self._charge(counters)
            transaction.set_rollback(True)

    @invariant()
    def usages_match_the_model(self) -> None:
        for usage in usages_of(ACCOUNT, LIMITS):
            assert usage.remaining == LIMITS[usage.name] - self.in_window(usage.name)

    @staticmethod
    def _charge(counters: tuple[str, ...]) -> AgentRateLimited | None:
        try:
            with write_transaction(charge=RateLimitCharge(ACCOUNT, counters)) as transaction:
                transaction.open()
                transaction.consume()
        except AgentRateLimited as refusal:
            return refusal
        return None


@pytest.mark.django_db
def test_the_hourly_limit_is_a_sliding_window() -> None:
    effort = hypothesis_settings(max_examples=30, stateful_step_count=20, deadline=None)
    with override_settings(HOURLY_LIMITS=settings.HOURLY_LIMITS | LIMITS):
        run_state_machine_as_test(HourlyLimits, settings=effort)  # type: ignore[no-untyped-call]
