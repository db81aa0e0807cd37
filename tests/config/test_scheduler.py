"""The scheduler runs its commands repeatedly while the service runs, and ends with it."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from kernel.jobs import due
from runtime import scheduler
from runtime.scheduler import COMMANDS, OnDemand, Scheduler
from tests.operations.values import value
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.processes
PROGRAM = """
import signal, sys, time
command = sys.argv[1]
with open({!r}, "a+") as diary:
    diary.seek(0)
    is_first = command not in diary.read()
    diary.write(command + "\\n")
if command == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("ready", file=open({!r} + ".ready", "w"))
time.sleep(60 * (command in ("slow", "stubborn")))
sys.exit(command == "fails_once" and is_first)
"""


@pytest.fixture
def diary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace manage.py with a program that logs its arguments; `slow` takes a minute, and `fails_once` fails once."""
    file = tmp_path / "diary"
    (tmp_path / "manage.py").write_text(PROGRAM.format(str(file), str(file)))
    monkeypatch.setattr(scheduler, "BASE_DIR", tmp_path)
    return file


def entries(diary: Path, count: int) -> list[str]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = diary.read_text().split() if diary.exists() else []
        if len(found) >= count:
            return found[:count]
        time.sleep(0.01)
    raise AssertionError(f"nothing was done in time: {diary}")


def test_the_commands_run_in_turn_and_repeatedly(diary: Path) -> None:
    keeper = Scheduler(0.01)
    keeper.start()
    assert entries(diary, 2 * len(COMMANDS)) == [*COMMANDS] * 2
    keeper.stop()
    assert not keeper.is_alive()


def test_the_roll_up_is_told_how_often_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, runs, stops = Scheduler(300), [], iter([False, True])
    monkeypatch.setattr(keeper, "_run", lambda *words: runs.append(words))
    monkeypatch.setattr(keeper._stopped, "wait", lambda _seconds: next(stops))
    keeper.run()
    assert runs == [(command,) if command != "roll_up_desk" else (command, "--interval=5") for command in COMMANDS]


def test_each_run_sets_its_metrics(diary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "COMMANDS", ("fails_once",))
    began, failures = time.time(), value("housekeeping_failures_total", command="fails_once")
    keeper = Scheduler(0.01)
    keeper.start()
    assert eventually(lambda: value("housekeeping_success_timestamp_seconds", command="fails_once") >= began)
    keeper.stop()
    assert value("housekeeping_failures_total", command="fails_once") == failures + 1
    assert value("housekeeping_seconds", command="fails_once") > 0


# Less than the command takes.
STOP_SECONDS = 55


@pytest.mark.parametrize("command", ["slow", "stubborn"])
def test_stop_ends_the_running_command_which_is_no_failure(
    diary: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A command that ignores the signal is killed."""
    monkeypatch.setattr(scheduler, "COMMANDS", (command,))
    failures = value("housekeeping_failures_total", command=command)
    keeper = Scheduler(0.01)
    keeper.start()
    entries(diary, 1)
    assert command == "slow" or eventually(diary.with_name("diary.ready").exists)
    before = time.monotonic()
    keeper.stop()
    assert time.monotonic() - before < STOP_SECONDS
    assert not keeper.is_alive()
    assert value("housekeeping_failures_total", command=command) == failures


def test_stop_ends_a_command_that_is_just_starting(diary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beginning, popen = threading.Event(), subprocess.Popen

    def slow_to_begin(*arguments: Any, **options: Any) -> Any:
        beginning.set()
        time.sleep(0.3)
        return popen(*arguments, **options)

    monkeypatch.setattr(scheduler, "COMMANDS", ("slow",))
    monkeypatch.setattr(subprocess, "Popen", slow_to_begin)
    keeper = Scheduler(0.01)
    keeper.start()
    assert beginning.wait(PATIENCE_SECONDS)
    before = time.monotonic()
    keeper.stop()
    assert time.monotonic() - before < STOP_SECONDS
    assert not keeper.is_alive()


def test_a_disabled_scheduler_runs_no_command(monkeypatch: pytest.MonkeyPatch, diary: Path) -> None:
    monkeypatch.setenv("HOUSEKEEPING_MINUTES", "0")
    with scheduler.scheduled_commands():
        pass
    assert not diary.exists()


def test_what_is_asked_for_runs_at_once_and_what_fails_runs_again(
    diary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "COMMANDS", ("first", "fails_once"))
    monkeypatch.setattr(scheduler, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(scheduler, "FAILED_SECONDS", 0.01)
    keeper = OnDemand(tmp_path)
    for command in ("fails_once", "first", "unknown"):
        due.ask_for(tmp_path, command)
    keeper.start()
    assert entries(diary, 3) == ["first", "fails_once", "fails_once"]
    due.ask_for(tmp_path, "first")
    assert entries(diary, 4)[3] == "first"
    assert eventually(lambda: sorted(path.name for path in (tmp_path / "due").iterdir()) == ["unknown"])
    keeper.stop()


def test_what_a_stop_has_interrupted_is_done_after_the_next_start(
    diary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "COMMANDS", ("slow",))
    monkeypatch.setattr(scheduler, "LOOK_SECONDS", 0.01)
    due.ask_for(tmp_path, "slow")
    for times in (1, 2):
        keeper = OnDemand(tmp_path)
        keeper.start()
        entries(diary, times)
        keeper.stop()


def test_a_data_folder_that_cannot_be_written_prevents_no_decision(tmp_path: Path) -> None:
    due.ask_for(tmp_path / "missing", "first")
    assert due.take(tmp_path / "missing", ("first",)) is None


def test_the_commands_exist() -> None:
    from django.core.management import get_commands

    assert set(scheduler.COMMANDS) <= set(get_commands())


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
