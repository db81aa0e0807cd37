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

from tests import processes

RUNS = 3
MOST = 2
# A failure by chance in one of these is a defect of the product or of the test.
NEVER_REPEATED = tuple(
    f"tests/{folder}/" for folder in ("backup", "changes", "cluster", "config_writes", "consistency", "faults")
)
OUTCOME = Path(__file__).resolve().parent.parent / ".pytest_cache" / "outcome.json"


class Outcome:
    """A plugin of pytest that writes the exit status of a run and its failed tests to a file, when the run ends."""

    def __init__(self) -> None:
        self._failed: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            is_marked = processes.MARKER in report.keywords
            self._failed[report.nodeid] = is_marked and not report.nodeid.startswith(NEVER_REPEATED)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        OUTCOME.parent.mkdir(exist_ok=True)
        OUTCOME.write_text(json.dumps({"status": int(session.exitstatus), "failed": self._failed}))


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
    if not OUTCOME.exists():
        return _say("The tests did not run to their end.")
    outcome = json.loads(OUTCOME.read_text())
    OUTCOME.unlink()
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
