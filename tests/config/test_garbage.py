"""Nothing is collected while a process starts, and the collector is enabled afterwards."""

import gc

import manage
from config.runtime import garbage


def test_nothing_is_collected_during_a_start() -> None:
    with garbage.none_during_start():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_command_runs_with_the_collector() -> None:
    gc.disable()
    manage.Commands(["manage.py"]).fetch_command("prune")
    assert gc.isenabled()
