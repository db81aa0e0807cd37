"""Tests that start processes or drive a browser: they have the marker `processes`, because a busy machine may make them
fail by chance. A test without the marker that starts one fails.
"""

from __future__ import annotations

import multiprocessing.process
import subprocess
from collections import defaultdict
from itertools import islice
from typing import Any

import pytest

MARKER = "processes"
# A process that ends before the test begins to wait for anything cannot make it fail by chance.
SHORT = ("git",)
# Folders whose tests use one service.
TOGETHER = ("tests/client/", "tests/journeys/", "tests/streams/")
# How long a marked test takes, about, and the modules in which few tests take long, in seconds.
SECONDS = 3
LONG = {
    "tests/fuzz/test_fuzz.py": 100,
    "tests/documents/test_commands.py": 100,
    "tests/faults/test_faults.py": 70,
    "tests/config/test_make_run.py": 65,
    "tests/backup/test_point_in_time.py": 20,
    "tests/desk/test_look.py": 55,
    "tests/cluster/test_failover.py": 50,
    "tests/cluster/test_stack.py": 45,
    "tests/operations/test_setup_and_doctor.py": 45,
    "tests/operations/test_service.py": 40,
    "tests/faults/test_hosts.py": 35,
}


class Guard:
    """Refuses to start processes while a test without the marker runs."""

    def __init__(self) -> None:
        self.refuses = False

    def install(self) -> None:
        start, popen = multiprocessing.process.BaseProcess.start, subprocess.Popen.__init__

        def guarded_start(process: Any) -> None:
            self._check(str(process.name))
            start(process)

        def guarded_popen(process: Any, command: Any, *arguments: Any, **options: Any) -> None:
            self._check(command if isinstance(command, str) else str(command[0]))
            popen(process, command, *arguments, **options)

        multiprocessing.process.BaseProcess.start = guarded_start  # type: ignore[assignment, method-assign]
        subprocess.Popen.__init__ = guarded_popen  # type: ignore[assignment, method-assign]

    def _check(self, program: str) -> None:
        if self.refuses and program not in SHORT:
            pytest.fail(f"Starts {program}: the test, or its module, needs the marker `{MARKER}`.")


guard = Guard()


def move_to_the_beginning(items: list[pytest.Item], workers: int) -> None:
    """Begin the share of each worker with marked tests, the longest first: the last tests of a run should be short.

    pytest-xdist (worksteal) cuts the list into a share for each worker; one that has done its share takes from the end
    of another. Tests that use one service stay together.
    """
    groups: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker(MARKER):
            groups[_group(item)].append(item)
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    costs = [0] * workers
    for name, group in sorted(groups.items(), key=lambda each: -_cost(*each)):
        least = costs.index(min(costs))
        shares[least] += group
        costs[least] += _cost(name, group)
    others = iter([item for item in items if not item.get_closest_marker(MARKER)])
    ordered: list[pytest.Item] = []
    for number, share in enumerate(shares):
        size = (len(items) - len(ordered)) // (workers - number)
        ordered += [*share, *islice(others, max(0, size - len(share)))]
    items[:] = [*ordered, *others]


def _group(item: pytest.Item) -> str:
    module = item.nodeid.partition("::")[0]
    return next((folder for folder in TOGETHER if module.startswith(folder)), module)


def _cost(name: str, group: list[pytest.Item]) -> int:
    return LONG.get(name, len(group) * SECONDS)
