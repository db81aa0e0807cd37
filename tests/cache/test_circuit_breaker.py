from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from config.cache import circuit_breaker
from config.cache.circuit_breaker import CircuitBreaker


def test_a_breaker_closes_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    breaker, now = CircuitBreaker(5, effect="calls are skipped"), 100.0
    monkeypatch.setattr(circuit_breaker, "time", SimpleNamespace(monotonic=lambda: now))
    assert not breaker.is_open()
    breaker.open(OSError())
    now = 104.9
    assert breaker.is_open()
    now = 105.1
    assert not breaker.is_open()


def test_an_open_breaker_logs_no_further_error(caplog: pytest.LogCaptureFixture) -> None:
    breaker = CircuitBreaker(60, effect="calls are skipped")
    with caplog.at_level(logging.WARNING):
        breaker.open(TimeoutError())
        breaker.open(TimeoutError())
    assert caplog.messages == ["Redis does not answer (TimeoutError): calls are skipped."]
