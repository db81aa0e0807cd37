"""Measures which tests run each line (a plugin of pytest), and reads what it has written."""

from __future__ import annotations

import json
import math
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage, CoverageData

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = (
    *("kernel/writes", "kernel/changes", "kernel/cache"),
    *("agents", "messaging", "reactions", "embeds", "moving", "account_area"),
)


class Measuring:
    def __init__(self, folder: Path, name: str) -> None:
        self._file, self._seconds, self._test = folder / f"{name}.json", defaultdict[str, float](float), ""
        sources = [str(ROOT / each) for each in FOLDERS]
        self._coverage = Coverage(data_file=str(folder / f"{name}.lines"), source=sources, config_file=False)
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._test = item.nodeid
        self._coverage.switch_context(self._test)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """What several tests share belongs to each test of the module."""
        if fixturedef.scope != "function":
            self._coverage.switch_context(module_of(self._test) if fixturedef.scope != "session" else "")
        try:
            return (yield)
        finally:
            self._coverage.switch_context(self._test)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration if report.passed else math.inf

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        self._file.write_text(json.dumps({test: spent for test, spent in self._seconds.items() if spent < math.inf}))


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        folder = Path(json.loads(os.environ["MUTANTS"])["coverage"])
        config.pluginmanager.register(Measuring(folder, config.workerinput["workerid"]))


def module_of(test: str) -> str:
    return test.partition("::")[0]


class Covering:
    def __init__(self, folder: Path) -> None:
        self._data = [CoverageData(str(file)) for file in sorted(folder.glob("*.lines"))]
        self._lines: dict[str, dict[int, set[str]]] = {}
        self.seconds: dict[str, float] = {}
        for file in folder.glob("*.json"):
            self.seconds |= json.loads(file.read_text())
        self._of_module: dict[str, set[str]] = defaultdict(set)
        for test in self.seconds:
            self._of_module[module_of(test)].add(test)

    def tests(self, path: str, line: int) -> set[str]:
        """Those that passed."""
        if path not in self._lines:
            self._lines[path] = defaultdict(set)
            for data in self._data:
                data.read()
                for number, names in data.contexts_by_lineno(str(ROOT / path)).items():
                    self._lines[path][number].update(names)
        contexts = self._lines[path].get(line, set())
        return set[str]().union(*(self._of_module.get(name, {name}) for name in contexts)) & self.seconds.keys()
