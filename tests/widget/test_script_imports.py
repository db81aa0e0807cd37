"""The scripts of the widget import one another in one direction."""

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


def test_no_script_imports_itself_by_way_of_others() -> None:
    graph = {script.resolve(): imports_of(script) for script in FOLDER.rglob("*.js")}
    assert sum(map(len, graph.values())) > 20
    TopologicalSorter(graph).prepare()


def test_every_imported_script_exists() -> None:
    missing = {name for script in FOLDER.rglob("*.js") for name in imports_of(script) if not name.is_file()}
    assert not missing


@pytest.mark.parametrize("text", ['import { a } from "./b.js";', 'import "./b.js";', 'export { a } from "./b.js";'])
def test_an_import_is_recognised(text: str) -> None:
    assert IMPORT.findall(text) == ["./b.js"]
