"""config/settings.py, which is read from top to bottom."""

from __future__ import annotations

import ast
from collections import Counter

from tests.service import ROOT


def test_no_setting_is_assigned_twice_and_no_module_is_imported_whole() -> None:
    settings = ast.parse((ROOT / "config/settings.py").read_text())
    names = [node.id for node in ast.walk(settings) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    assert len(names) > 100
    assert {name for name, times in Counter(names).items() if times > 1} == set()
    assert not any(alias.name == "*" for node in ast.walk(settings) for alias in getattr(node, "names", ()))
