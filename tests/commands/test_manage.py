"""manage.py: the limits of statements, and the garbage collector during a start."""

from __future__ import annotations

import gc
import os
import sys

import pytest

import manage
from config.runtime import garbage


def test_a_statement_is_limited_only_in_the_command_that_runs_as_long_as_the_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[str] = []
    monkeypatch.setattr(manage.Commands, "execute", lambda _self: found.append(os.environ["STATEMENT_TIMEOUT"]))
    for command in ("prune", "migrate", "help", "deliver_webhooks", "deliver_mails"):
        monkeypatch.setenv("STATEMENT_TIMEOUT", "1234")
        monkeypatch.setattr(sys, "argv", ["manage.py", command])
        manage.main()
    assert found == ["0", "0", "0", "1234", "1234"]


def test_nothing_is_collected_during_a_start() -> None:
    with garbage.none_during_start():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_command_runs_with_the_collector() -> None:
    gc.disable()
    manage.Commands(["manage.py"]).fetch_command("prune")
    assert gc.isenabled()
