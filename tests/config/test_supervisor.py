"""A program beside the workers is started again when it ends, or could not be started."""

from __future__ import annotations

import subprocess
import threading
from typing import Any

import pytest

from runtime import supervisor
from runtime.supervisor import supervised
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.processes


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "PAUSE_SECONDS", 0.01)


def test_a_program_that_cannot_be_started_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    started, tries = threading.Event(), iter([OSError("no memory"), OSError("no memory")])
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        if error := next(tries, None):
            raise error
        started.set()
        return popen(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
    with supervised("-c", "import time; time.sleep(60)"):
        assert started.wait(PATIENCE_SECONDS)
    assert caplog.text.count("no memory") == 2


def test_a_program_that_ends_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = threading.Semaphore(0)
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        starts.release()
        return popen(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
    with supervised("-c", "raise SystemExit(3)"):
        assert starts.acquire(timeout=PATIENCE_SECONDS)
        assert starts.acquire(timeout=PATIENCE_SECONDS)
