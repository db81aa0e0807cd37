"""A plugin of pytest that tries each change in a fork of the process, which has collected all tests.

There, the functions of the changed file get the code of the changed source, and tests run until one fails.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import random
import re
import shutil
import signal
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import psycopg
import pytest
from _pytest.runner import runtestprotocol
from django.conf import settings
from django.db import connection
from pytest_django.plugin import blocking_manager_key

from tests.mutants.changes import Change, changes_of
from tests.mutants.covering import FOLDERS, ROOT, Covering, module_of

MIGRATED = "mutants"
TESTS_MAX = 200
FEW = 20
# For the tests of one change, as they were measured. They may take longer beside others.
SECONDS_MAX = 40
PATIENCE = 5
# By the exit codes of forks in which no test failed. A test that hangs has noticed the change, too.
RESULTS = {0: "survived", 2: "not tried", -signal.SIGALRM: "hung"}


class Trying:
    def __init__(self, options: dict[str, Any]) -> None:
        self._options, self._covering = options, Covering(Path(options["coverage"]))
        self._running: dict[int, tuple[Change, Path]] = {}
        self._results: dict[str, list[Change]] = defaultdict(list)
        self._items: dict[str, pytest.Item] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        changes = [each for each in _changes(self._options["only"]) if self._tests_of(each)]
        sample = random.Random(self._options["seed"]).sample(changes, min(self._options["sample"], len(changes)))
        print(f"{len(sample)} of {len(changes)} changes", flush=True)  # noqa: T201
        # `get_objects` leaves out frozen ones.
        gc.unfreeze()
        connection.settings_dict["TEST"]["NAME"] = MIGRATED
        with session.config.stash[blocking_manager_key].unblock():
            connection.creation.create_test_db(verbosity=0, serialize=False)
        connection.close()
        for change in sample:
            if len(self._running) == self._options["at_once"]:
                self._end(*os.wait())
            self._begin(change)
        while self._running:
            self._end(*os.wait())
        print(", ".join(f"{len(of)} {result}" for result, of in self._results.items()))  # noqa: T201
        print(*self._results["survived"], sep="\n")  # noqa: T201
        return True

    def _begin(self, change: Change) -> None:
        tests, data = self._chosen(change), Path(tempfile.mkdtemp())
        _in_server(f"CREATE DATABASE {data.name} TEMPLATE {MIGRATED}")
        if pid := os.fork():
            self._running[pid] = change, data
            return
        try:
            signal.alarm(20 + int(PATIENCE * sum(self._covering.seconds[test] for test in tests)))
            os._exit(_try(change, [self._items[test] for test in tests], data))
        finally:
            os._exit(2)

    def _end(self, pid: int, status: int) -> None:
        change, data = self._running.pop(pid)
        _in_server(f"DROP DATABASE {data.name} WITH (FORCE)")
        by = "".join(file.read_text() for file in data.glob("by"))
        result = "noticed" if by else RESULTS.get(os.waitstatus_to_exitcode(status), "not tried")
        self._results[result].append(change)
        print(f"{result:9} {change} {by}", flush=True)  # noqa: T201
        shutil.rmtree(data)

    def _chosen(self, change: Change) -> list[str]:
        """First those that run a line nearby that few tests run, and all of modules that name the changed code."""
        functions = re.findall(r"def _?(\w+)", change.before[: change.start].decode())
        is_near = re.compile("|".join([change.module.rpartition(".")[2], *functions[-1:]]))
        tests, seconds, turns = self._tests_of(change), self._covering.seconds, Counter[str]()
        modules = set(map(module_of, tests))
        near = {each for each in modules if is_near.search(each) or change.module in (ROOT / each).read_text()}
        beside = [self._covering.tests(change.path, line) for line in range(change.line - 5, change.line + 6)]
        rare = set().union(*(each for each in beside if len(each) <= FEW))
        ranks: dict[str, int] = {}
        for test in sorted(tests, key=lambda test: (seconds[test], test)):
            turns[module_of(test)] += 1
            ranks[test] = 0 if test in rare or module_of(test) in near else turns[module_of(test)]
        chosen = sorted(ranks, key=lambda test: ranks[test])[:TESTS_MAX]
        spent = accumulate(seconds[test] for test in chosen)
        chosen = [test for test, end in zip(chosen, spent, strict=True) if end <= SECONDS_MAX] or chosen[:1]
        # Those of a module together, since they share fixtures.
        return sorted(chosen, key=lambda test: (module_of(test) not in near, module_of(test), seconds[test]))

    def _tests_of(self, change: Change) -> set[str]:
        """Those of the line, or of the lines of the file that name the constant."""
        lines = [change.line]
        if change.constant:
            name, text = re.compile(rf"\b{change.constant}\b"), change.before.decode().splitlines()
            lines = [number for number, line in enumerate(text, 1) if name.search(line)]
        return set().union(*(self._covering.tests(change.path, line) for line in lines)) & self._items.keys()


def _changes(only: str) -> Iterator[Change]:
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = str(file.relative_to(ROOT))
            if path.startswith(only) and "migrations" not in file.parts:
                yield from changes_of(path)


def _try(change: Change, items: list[pytest.Item], data: Path) -> int:
    """In the fork; returns its exit code."""
    os.environ["DATA_DIR"], settings.DATA_DIR = str(data), data
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = data.name
    # pytest-django would make a database.
    connection.creation.create_test_db = lambda **_: data.name  # type: ignore[assignment, method-assign]
    if not (_replace_constant if change.constant else _replace_code)(change):
        return 2
    for item, following in zip(items, [*items[1:], None], strict=True):
        if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
            (data / "by").write_text(item.nodeid)
            break
    items[0].session._setupstate.teardown_exact(None)
    return 0


def _replace_code(change: Change) -> bool:
    # The modules of commands are imported when one runs.
    import_module(change.module)
    before, after = (_codes(compile(text, change.file, "exec")) for text in (change.before, change.after))
    is_replaced = False
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == str(change.file):
            name = _name(each.__code__)
            if name in after and after[name] != before[name]:
                each.__code__, is_replaced = after[name], True
    return is_replaced


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return {_name(each): each for each in inner} | {name: each for code in inner for name, each in _codes(code).items()}


def _name(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _replace_constant(change: Change) -> bool:
    module = import_module(change.module)
    for each in ast.parse(change.after).body:
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == change.constant:
            exec(compile(ast.Module([each], []), change.file, "exec"), vars(module))
    return True


def _in_server(statement: str) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
        session.execute(statement)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Trying(json.loads(os.environ["MUTANTS"])))
