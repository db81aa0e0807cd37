"""The markers of the suite are what they say."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from tests import conftest, processor_time
from tests.processor_time import ProcessorTime


def test_a_test_without_the_marker_cannot_start_a_process() -> None:
    with pytest.raises(pytest.fail.Exception, match="needs the marker `processes`"):
        subprocess.run([sys.executable, "-c", ""], check=True)
    with pytest.raises(pytest.fail.Exception, match="needs the marker `processes`"):
        multiprocessing.get_context("spawn").Process(target=print).start()
    with suppress(FileNotFoundError):
        subprocess.run(["git", "--version"], check=False, stdout=subprocess.DEVNULL)


@pytest.mark.processes
def test_a_test_with_the_marker_starts_processes() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def finished(name: str, seconds: float, *markers: str) -> Any:
    return SimpleNamespace(
        nodeid=name,
        when="teardown",
        user_properties=[("processor_seconds", seconds)],
        keywords=dict.fromkeys(markers, 1),
    )


@pytest.mark.parametrize(("number", "status"), [(processor_time.ALLOWED, 0), (processor_time.ALLOWED + 1, 1)])
def test_too_many_long_tests_without_the_marker_slow_fail_the_run(number: int, status: int) -> None:
    measured = ProcessorTime()
    for index in range(number):
        measured.pytest_runtest_logreport(finished(f"long_{index}", processor_time.LIMIT_SECONDS + 0.1))
    measured.pytest_runtest_logreport(finished("marked", 9.0, "slow"))
    measured.pytest_runtest_logreport(finished("short", processor_time.LIMIT_SECONDS))
    session: Any = SimpleNamespace(exitstatus=0)
    measured.pytest_sessionfinish(session)
    assert session.exitstatus == status


@pytest.mark.parametrize(
    ("required", "reason", "outcome"),
    [
        ("1", "no nginx: put one on PATH", "failed"),
        ("0", "no nginx: put one on PATH", "skipped"),
        ("1", "this machine has no IPv6", "skipped"),
        ("1", "Only root may give a folder to another user.", "skipped"),
    ],
)
def test_where_everything_is_required_only_what_the_machine_cannot_have_is_skipped(
    required: str, reason: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUIRE_ALL", required)
    report: Any = SimpleNamespace(
        skipped=True, outcome="skipped", longrepr=("/root/needs root/a.py", 1, f"Skipped: {reason}")
    )
    hook = conftest.pytest_runtest_makereport()
    next(hook)
    with pytest.raises(StopIteration) as ended:
        hook.send(report)
    assert ended.value.value.outcome == outcome
    assert reason in str(report.longrepr)
