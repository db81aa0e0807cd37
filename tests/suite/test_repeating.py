"""What a run of CI repeats, and what it never does."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import repeating

BROWSER = "tests/widget/test_panel_reading.py::test_posts"
SERVICE = "tests/client/test_calls.py::test_post"
FAULT = "tests/faults/test_faults.py::test_faults_lose_and_double_no_write"
IN_PROCESS = "tests/messaging/test_create_message.py::test_post"


@pytest.mark.parametrize(
    ("status", "failed", "refused"),
    [
        (1, {BROWSER: True}, None),
        (1, {BROWSER: True, SERVICE: True}, None),
        (1, {BROWSER: True, SERVICE: True, f"{SERVICE}_again": True}, "3 tests failed"),
        (1, {BROWSER: True, IN_PROCESS: False}, IN_PROCESS),
        (1, {}, "last lines"),
        # Interrupted, internal error, wrong usage, no tests.
        *((status, {BROWSER: True}, "ended early") for status in (2, 3, 4, 5)),
    ],
)
def test_only_failed_tests_of_a_complete_run_are_repeated(
    status: int, failed: dict[str, bool], refused: str | None
) -> None:
    reason = repeating.refusal(status, failed)
    assert (reason is None) == (refused is None)
    assert (refused or "") in (reason or "")


def report(name: str, *, failed: bool = True, marked: bool = True) -> Any:
    return SimpleNamespace(nodeid=name, failed=failed, keywords={"processes": 1} if marked else {})


def test_the_outcome_of_a_run_tells_which_failed_tests_may_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeating, "OUTCOME", tmp_path / "cache" / "outcome.json")
    outcome = repeating.Outcome()
    for each in (
        report(BROWSER),
        report(SERVICE, failed=False),
        report(FAULT),
        report(IN_PROCESS, marked=False),
        # A worker that crashed reports its test without keywords.
        report(f"{SERVICE}_again", marked=False),
    ):
        outcome.pytest_runtest_logreport(each)
    session: Any = SimpleNamespace(exitstatus=pytest.ExitCode.TESTS_FAILED)
    outcome.pytest_sessionfinish(session)
    assert json.loads(repeating.OUTCOME.read_text()) == {
        "status": 1,
        "failed": {BROWSER: True, FAULT: False, IN_PROCESS: False, f"{SERVICE}_again": False},
    }


def test_without_an_outcome_nothing_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeating, "OUTCOME", tmp_path / "outcome.json")
    assert repeating.main() == 1


@pytest.mark.parametrize(("statuses", "runs", "status"), [((0, 0, 0), 3, 0), ((0, 1), 2, 1), ((1,), 1, 1)])
def test_a_repeated_test_passes_each_time(
    statuses: tuple[int, ...], runs: int, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> SimpleNamespace:
        commands.append(command)
        return SimpleNamespace(returncode=statuses[len(commands) - 1])

    loop = SimpleNamespace(kill=lambda: None, wait=lambda: None)
    monkeypatch.setattr(repeating, "subprocess", SimpleNamespace(run=run, Popen=lambda _command: loop))
    monkeypatch.setattr(repeating, "OUTCOME", tmp_path / "outcome.json")
    repeating.OUTCOME.write_text(json.dumps({"status": 1, "failed": {BROWSER: True}}))
    assert repeating.main() == status
    assert len(commands) == runs
    assert all(command[-1] == BROWSER for command in commands)
    assert not repeating.OUTCOME.exists()
