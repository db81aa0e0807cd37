"""Measures the processor time of each test, and finds the tests that the quick suite should not include.

`make test` leaves out the tests with the marker `slow`. `make test-all` passes `--limit-processor-time`, which prints
the tests without this marker that took longer than LIMIT_SECONDS, and fails the run if they are more than ALLOWED. The
processor time is that of the process of the test: it depends on the load of the machine less than the duration does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

LIMIT_SECONDS = 0.5
# A collection of garbage, or the first use of something in a process, lengthens some test in each run.
ALLOWED = 10
OPTION = "--limit-processor-time"
# Of the plugin.
NAME = "processor_time"
_PROPERTY = "processor_seconds"


class ProcessorTime:
    """A plugin of pytest. In a worker of pytest-xdist it measures, in the main process it reports."""

    def __init__(self) -> None:
        self._over: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        try:
            return (yield)
        finally:
            item.user_properties.append((_PROPERTY, time.process_time() - item.stash[_BEGAN]))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.stash[_BEGAN] = time.process_time()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        seconds: Any = dict(report.user_properties).get(_PROPERTY)
        is_over = report.when == "teardown" and seconds is not None and seconds > LIMIT_SECONDS
        if is_over and "slow" not in report.keywords:
            self._over[report.nodeid] = seconds

    @property
    def is_exceeded(self) -> bool:
        return len(self._over) > ALLOWED

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.is_exceeded and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._over:
            return
        title = f"{len(self._over)} tests over {LIMIT_SECONDS} s of processor time without the marker `slow`"
        terminalreporter.section(f"{title} ({ALLOWED} are allowed)")
        for name, seconds in sorted(self._over.items(), key=lambda each: -each[1]):
            terminalreporter.write_line(f"{seconds:6.2f} s  {name}")


_BEGAN = pytest.StashKey[float]()
