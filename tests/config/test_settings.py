"""The modules of which config/settings.py consists."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from tests.service import ROOT

SETTINGS = ast.parse((ROOT / "config/settings.py").read_text())


def imported_whole() -> Iterator[ast.Module]:
    for node in SETTINGS.body:
        match node:
            case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                yield ast.parse((ROOT / module.replace(".", "/")).with_suffix(".py").read_text())


def assigned(module: ast.Module) -> set[str]:
    names = (node for statement in module.body for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store) and name.id.isupper()}


def test_no_setting_is_assigned_in_two_modules() -> None:
    modules = [SETTINGS, *imported_whole()]
    assert len(modules) > 5
    times = Counter(name for module in modules for name in assigned(module))
    assert {name for name, number in times.items() if number > 1} == set()
