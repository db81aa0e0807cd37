"""Outside the API no middleware runs a service again: each one that is a transaction does that itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.service import ROOT

RETRIED, ATOMIC = "retried", "transaction.atomic"
SERVICES = sorted(
    path
    for pattern in ("*/services.py", "*/services/*.py", "messaging/*/*.py")
    for path in ROOT.glob(pattern)
    if path.parts[-2] not in ("tests", "models")
)
# `move_page` runs it again itself; the jobs of the others begin again where they have stopped.
OTHERS = {
    "moving.py": {"_move"},
    "turns.py": {"record"},
    "archive.py": {"_store", "_finish"},
    "erasers.py": {"handles"},
}


def transactions(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The functions that are a transaction, with their decorators."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            if ATOMIC in decorators:
                yield node.name, decorators


def test_each_transaction_of_a_service_is_run_again_when_it_is_aborted() -> None:
    found = {path: dict(transactions(path)) for path in SERVICES}
    assert sum(map(len, found.values())) > 50
    not_retried = {
        path: {name for name, decorators in by.items() if decorators[0] != RETRIED} for path, by in found.items()
    }
    assert [path for path, names in not_retried.items() if names != OTHERS.get(path.name, set())] == []
