"""manage.py: the limits of statements, and the garbage collector during a start."""

from __future__ import annotations

import errno
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import DatabaseError, OperationalError

import manage
from runtime import run, supervisor
from tests.service import ROOT


def test_a_statement_is_limited_only_in_the_command_that_runs_as_long_as_the_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[str] = []
    monkeypatch.setattr(manage.Commands, "execute", lambda _self: found.append(os.environ["STATEMENT_TIMEOUT"]))
    for command in ("prune", "migrate", "help", "worker"):
        monkeypatch.setenv("STATEMENT_TIMEOUT", "1234")
        monkeypatch.setattr(sys, "argv", ["manage.py", command])
        manage.main()
    assert found == ["0", "0", "0", "1234"]


class FullError(Exception):
    sqlstate = "53100"


def chained(outer: Exception, cause: Exception) -> Exception:
    outer.__cause__ = cause
    return outer


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/data/x"), "The disk under /data/x is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "The disk is full"),
        (chained(OperationalError("could not extend file"), FullError()), "The disk of PostgreSQL is full"),
        (chained(DatabaseError("x"), chained(ValueError("y"), OSError(errno.ENOSPC, "full"))), "The disk is full"),
        (OSError(errno.EACCES, "Permission denied"), None),
        (DatabaseError("another"), None),
    ],
)
def test_a_full_disk_is_one_line_of_commands_and_of_a_start(
    error: Exception, said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(manage.Commands, "execute", fail)
    monkeypatch.setattr(manage, "_drop_output", lambda: None)
    monkeypatch.setattr(run, "run", fail)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    for program, name in ((manage.main, "manage.py"), *(((run.main, "make run"),) * isinstance(error, OSError))):
        with pytest.raises(BaseException) as found:  # noqa: PT011  the error itself, or SystemExit
            program()
        if said is None:
            assert found.value is error
        else:
            assert str(found.value).startswith(f"{name}: {said}: free some space")
            assert "\n" not in str(found.value)


@pytest.mark.slow
@pytest.mark.processes
def test_a_command_whose_output_has_no_room_says_so_in_one_line() -> None:
    command, environment = [sys.executable, "manage.py", "diffsettings"], os.environ | {"DEBUG": "1"}
    with Path("/dev/full").open("w") as full:
        finished = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert finished.returncode == 1
    assert finished.stderr.strip().splitlines()[-1].startswith("manage.py: The disk is full: free some space")
    assert "Traceback" not in finished.stderr


def test_nothing_is_collected_during_a_start() -> None:
    with supervisor.none_during_start():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_command_runs_with_the_collector() -> None:
    gc.disable()
    manage.Commands(["manage.py"]).fetch_command("prune")
    assert gc.isenabled()
