from __future__ import annotations

import logging
import time

import pytest

from config.cache.circuit_breaker import CircuitBreaker


def test_a_breaker_closes_after_its_time() -> None:
    breaker = CircuitBreaker(0.05, effect="calls are skipped")
    assert not breaker.is_open()
    breaker.open(OSError())
    assert breaker.is_open()
    time.sleep(0.06)
    assert not breaker.is_open()


def test_an_open_breaker_logs_no_further_error(caplog: pytest.LogCaptureFixture) -> None:
    breaker = CircuitBreaker(60, effect="calls are skipped")
    with caplog.at_level(logging.WARNING):
        breaker.open(TimeoutError())
        breaker.open(TimeoutError())
    assert caplog.messages == ["Redis does not answer (TimeoutError): calls are skipped."]
