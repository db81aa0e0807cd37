"""Outside the API no middleware runs a service again: each one that is a transaction does that itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service import ROOT

RETRIED, ATOMIC = "retried", "transaction.atomic"
SERVICES = sorted(
    path
    for pattern in ("*/services.py", "*/services/*.py", "messaging/personal_data/*.py")
    for path in ROOT.glob(pattern)
    if path.parts[-2] != "tests"
)
# `move_page` runs it again itself; the jobs of the others begin again where they have stopped.
OTHERS = {"moving.py": {"_move"}, "archive.py": {"_store", "_finish"}, "erasers.py": {"handles"}}


def transactions(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The functions that are a transaction, with their decorators."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            if ATOMIC in decorators:
                yield node.name, decorators


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_transaction_of_a_service_is_run_again_when_it_is_aborted(path: Path) -> None:
    found = {name for name, decorators in transactions(path) if decorators[0] != RETRIED}
    assert found == OTHERS.get(path.name, set())
