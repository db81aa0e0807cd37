"""The scheduler goes on when the machine cannot start a command."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from config import due
from config.runtime import scheduler
from config.runtime.scheduler import OnDemand, Scheduler
from tests.operations.values import value
from tests.waiting import eventually

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("is_on_demand", [False, True])
def test_a_command_that_cannot_be_started_is_a_failure_and_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, is_on_demand: bool
) -> None:
    begun, popen = threading.Event(), subprocess.Popen

    def fail_once(_program: object, **options: Any) -> Any:
        if begun.is_set():
            return popen(["true"], **options)
        begun.set()
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(subprocess, "Popen", fail_once)
    monkeypatch.setattr(scheduler, "COMMANDS", ("first",))
    monkeypatch.setattr(scheduler, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(scheduler, "FAILED_SECONDS", 0.01)
    failures = value("housekeeping_failures_total", command="first")
    began = value("housekeeping_success_timestamp_seconds", command="first")
    due.ask_for(tmp_path, "first")
    keeper = OnDemand(tmp_path) if is_on_demand else Scheduler(0.01)
    keeper.start()
    try:
        assert eventually(lambda: value("housekeeping_success_timestamp_seconds", command="first") > began)
    finally:
        keeper.stop()
    assert value("housekeeping_failures_total", command="first") == failures + 1
    assert "Cannot allocate memory" in caplog.text
