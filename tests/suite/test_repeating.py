"""What a run of CI repeats, and what it never does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import repeating
from tests.service import ROOT

BROWSER = "tests/widget/test_panel_reading.py::test_posts"
SERVICE = "tests/client/test_calls.py::test_post"
FAULT = "tests/faults/test_faults.py::test_faults_lose_and_double_no_write"
IN_PROCESS = "tests/messaging/test_create_message.py::test_post"
CONFTEST = """
from pathlib import Path
from tests.repeating import Outcome

def pytest_configure(config):
    config.addinivalue_line("markers", "processes")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcome(Path({file!r})))
"""


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


def test_the_outcome_of_a_run_tells_which_failed_tests_may_be_repeated(tmp_path: Path) -> None:
    file = tmp_path / "outcome.json"
    outcome = repeating.Outcome(file)
    for each in (
        report(BROWSER),
        report(SERVICE, failed=False),
        report(FAULT),
        report(IN_PROCESS, marked=False),
        # A worker that crashed reports its test without keywords.
        report(f"{SERVICE}_again", marked=False),
    ):
        outcome.pytest_runtest_logreport(each)
    failed = {BROWSER: True, FAULT: False, IN_PROCESS: False, f"{SERVICE}_again": False}
    for is_exceeded in (False, True):
        measured = SimpleNamespace(is_exceeded=is_exceeded)
        plugins = SimpleNamespace(get_plugin=lambda _name, measured=measured: measured)
        session: Any = SimpleNamespace(
            exitstatus=pytest.ExitCode.TESTS_FAILED, config=SimpleNamespace(pluginmanager=plugins)
        )
        outcome.pytest_sessionfinish(session)
        written = json.loads(file.read_text())
        assert written["status"] == 1
        assert written["failed"].items() >= failed.items()
        assert (len(written["failed"]) > len(failed)) == is_exceeded


@pytest.mark.slow
@pytest.mark.processes
def test_a_module_that_cannot_be_imported_is_never_repeated(tmp_path: Path) -> None:
    """In a run with workers, which goes on with the other modules and ends as with a failed test."""
    (tmp_path / "test_marked.py").write_text(
        "import pytest\n\n@pytest.mark.processes\ndef test_it():\n    assert not 'by chance'\n"
    )
    (tmp_path / "test_broken.py").write_text("import nowhere\n")
    (tmp_path / "conftest.py").write_text(CONFTEST.format(file=str(tmp_path / "out")))
    options = ("-q", "-n", "2", "--dist", "worksteal", "-p", "no:django", "--rootdir", str(tmp_path), "-c", "/dev/null")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)], cwd=tmp_path, env=environment, check=False
    )
    outcome = json.loads((tmp_path / "out").read_text())
    assert ended.returncode == outcome["status"] == 1
    assert sorted(outcome["failed"].values()) == [False, True]
    assert "test_broken.py" in str(repeating.refusal(outcome["status"], outcome["failed"]))


def test_without_an_outcome_nothing_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outcome.json").touch()
    monkeypatch.setenv(repeating.OUTCOME, str(tmp_path / "outcome.json"))
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
    (tmp_path / "outcome.json").write_text(json.dumps({"status": 1, "failed": {BROWSER: True}}))
    monkeypatch.setenv(repeating.OUTCOME, str(tmp_path / "outcome.json"))
    assert repeating.main() == status
    assert len(commands) == runs
    assert all(command[-1] == BROWSER for command in commands)
    assert repeating.OUTCOME not in os.environ
