"""A command that is spawned runs once after the commit, beside other commands."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from kernel.jobs import spawning
from kernel.jobs.spawning import spawn_after_commit
from tests.waiting import eventually

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]
# It logs its start, and ends when the file of its name exists.
PROGRAM = """
import pathlib, sys, time
folder, command = pathlib.Path(__file__).parent, sys.argv[1]
with open(folder / "diary", "a") as diary:
    diary.write(command + "\\n")
while not (folder / command).exists():
    time.sleep(0.01)
"""


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """Replaces manage.py with PROGRAM."""
    (tmp_path / "manage.py").write_text(PROGRAM)
    settings.BASE_DIR, settings.PERSON_JOBS = tmp_path, True
    yield tmp_path
    for command in ("first", "second"):
        (tmp_path / command).touch()
    assert eventually(lambda: not any(running.locked() for running in spawning._running.values()))


def started(folder: Path) -> Counter[str]:
    diary = folder / "diary"
    return Counter(diary.read_text().split() if diary.exists() else [])


def test_one_process_of_a_command_runs_at_a_time_beside_those_of_others(folder: Path) -> None:
    for command in ("first", "first", "second"):
        spawn_after_commit(command)
    assert eventually(lambda: started(folder) == {"first": 1, "second": 1})
    (folder / "first").touch()
    assert eventually(lambda: not spawning._running["first"].locked())
    assert started(folder)["first"] == 1
    spawn_after_commit("first")
    assert eventually(lambda: started(folder)["first"] == 2)


def test_a_command_starts_after_the_commit(folder: Path) -> None:
    with transaction.atomic():
        spawn_after_commit("first")
        assert not spawning._running["first"].locked()
    assert eventually(lambda: started(folder) == {"first": 1})


def test_a_rollback_and_the_setting_start_nothing(folder: Path, settings: Any) -> None:
    with transaction.atomic():
        spawn_after_commit("first")
        transaction.set_rollback(True)
    settings.PERSON_JOBS = False
    spawn_after_commit("second")
    assert not any(running.locked() for running in spawning._running.values())


def test_a_process_that_cannot_be_started_is_logged_and_the_next_one_starts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", fail)
        spawn_after_commit("first")
        assert eventually(lambda: "first could not be started" in caplog.text)
        assert eventually(lambda: not spawning._running["first"].locked())
    spawn_after_commit("first")
    assert eventually(lambda: started(folder) == {"first": 1})
