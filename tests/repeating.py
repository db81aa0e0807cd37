"""What `.ci/run` does after a run with failed tests: those that a busy machine may fail by chance run again.

    python -m tests.repeating

A test with the marker `processes` that failed runs RUNS times in a row beside a loop on each core, and must pass each
time. Everything else fails: a run that ended early, more than MOST failed tests, and a failed test that decides whether
something is lost or done twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import processes, processor_time

RUNS = 3
MOST = 2
# A failure by chance in one of these is a defect of the product or of the test.
NEVER_REPEATED = (
    "tests/backup/",
    "tests/changes/",
    "tests/cluster/",
    "tests/config_writes/",
    "tests/consistency/",
    "tests/embeds/test_analytics_races.py",
    "tests/faults/",
    "tests/partitioning/",
    "tests/streams/test_faults.py",
)
# The variable with the file of the outcome. Runs that tests start do not have it.
OUTCOME = "TEST_OUTCOME"


class Outcome:
    """A plugin of pytest that writes the exit status of a run and its failed tests to a file, when the run ends."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._failed: dict[str, bool] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a module that cannot be imported: pytest-xdist runs the other tests, and ends as with a failed test."""
        if report.failed:
            self._failed[report.nodeid] = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            is_marked = processes.MARKER in report.keywords
            self._failed[report.nodeid] = is_marked and not report.nodeid.startswith(NEVER_REPEATED)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        measured = session.config.pluginmanager.get_plugin(processor_time.NAME)
        if measured is not None and measured.is_exceeded:
            self._failed["too many tests without the marker `slow` take long"] = False
        self._file.write_text(json.dumps({"status": int(session.exitstatus), "failed": self._failed}))


def refusal(status: int, failed: dict[str, bool]) -> str | None:
    """Why a run that failed is not repeated. `failed` tells for each failed test whether it may be."""
    if status != pytest.ExitCode.TESTS_FAILED:
        return f"The run ended early: pytest's exit status is {status}."
    if not failed:
        return "No test failed, but the run did: its last lines say why."
    if final := [name for name, may_be_repeated in failed.items() if not may_be_repeated]:
        return "Tests failed that are never repeated:\n" + "\n".join(final)
    if len(failed) > MOST:
        return f"{len(failed)} tests failed; at most {MOST} are repeated:\n" + "\n".join(failed)
    return None


def passes_repeatedly(names: list[str]) -> bool:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    command = [sys.executable, "-m", "pytest", "-n", "1", "--quiet", *names]
    try:
        return all(subprocess.run(command, check=False).returncode == 0 for _ in range(RUNS))
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> int:
    # The runs that follow write no outcome.
    text = Path(os.environ.pop(OUTCOME)).read_text()
    if not text:
        return _say("The tests did not run to their end.")
    outcome = json.loads(text)
    failed = outcome["failed"]
    if reason := refusal(outcome["status"], failed):
        return _say(reason)
    passed = passes_repeatedly(list(failed))
    _say(f"{'Passed' if passed else 'Failed'} when repeated {RUNS} times under load:\n" + "\n".join(failed))
    return 0 if passed else 1


def _say(text: str) -> int:
    sys.stdout.write(f"{text}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
