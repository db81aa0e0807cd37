"""Marks the tests that start processes or drive a browser: a busy machine may make them fail by chance.

`.ci/run` runs those that failed a second time. The marker follows from what the functions of a test and its fixtures
refer to; a test that starts one in another way has the marker itself.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

MARKER = "processes"
STARTING = {"subprocess", "multiprocessing", "psutil", "playwright"}
# Where functions are searched.
SEARCHED = ("tests.", "config.runtime.")
# Folders whose tests use one service.
TOGETHER = ("tests/client/", "tests/journeys/", "tests/streams/")
# How long a marked test takes, about, and the modules in which few tests take long, in seconds.
SECONDS = 3
LONG = {
    "tests/fuzz/test_fuzz.py": 90,
    "tests/faults/test_faults.py": 70,
    "tests/faults/test_webhooks.py": 60,
    "tests/faults/test_hosts.py": 60,
    "tests/desk/test_look.py": 60,
    "tests/security/test_rotation.py": 45,
    "tests/backup/test_drill.py": 40,
    "tests/cluster/test_failover.py": 40,
    "tests/cluster/test_make_cluster.py": 40,
    "tests/cluster/test_stack.py": 40,
}


def mark(item: pytest.Item) -> None:
    if any(map(_starts_processes, _functions_of(item))):
        item.add_marker(MARKER)


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


def _functions_of(item: Any) -> Iterator[Any]:
    yield item.function
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        yield from (definition.func for definition in definitions)


@cache
def _starts_processes(function: Any) -> bool:
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        name = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
        if name.partition(".")[0] in STARTING:
            return True
        if name.startswith(SEARCHED):
            waiting += _referred(value)
    return False


def _referred(value: Any) -> Iterator[Any]:
    """What a function or class of the tests refers to."""
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, type):
        for each in vars(value).values():
            yield from (each.fget, each.fset) if isinstance(each, property) else (getattr(each, "__func__", each),)
        yield from value.__bases__
    elif isinstance(value, FunctionType):
        names = set(_names(value.__code__))
        found = [value.__globals__[name] for name in names if name in value.__globals__]
        yield from found
        modules = [each for each in found if isinstance(each, ModuleType) and each.__name__.startswith(SEARCHED)]
        yield from (getattr(module, name) for module in modules for name in names if hasattr(module, name))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
