"""Imports between the scripts of the widget."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.service import ROOT

FOLDER = ROOT / "static" / "embed"
IMPORT = re.compile(r"""^\s*(?:import|export)\b[^"';]*["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)


def imports_of(script: Path) -> set[Path]:
    return {(script.parent / name).resolve() for name in IMPORT.findall(script.read_text(encoding="utf-8"))}


def test_imports_of_scripts_are_acyclic() -> None:
    graph = {script.resolve(): imports_of(script) for script in FOLDER.rglob("*.js")}
    assert sum(map(len, graph.values())) > 20
    TopologicalSorter(graph).prepare()


def test_every_imported_script_exists() -> None:
    missing = {name for script in FOLDER.rglob("*.js") for name in imports_of(script) if not name.is_file()}
    assert not missing


@pytest.mark.parametrize("text", ['import { a } from "./b.js";', 'import "./b.js";', 'export { a } from "./b.js";'])
def test_import_pattern_matches_every_form(text: str) -> None:
    assert IMPORT.findall(text) == ["./b.js"]
