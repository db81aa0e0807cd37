"""The panel's modules are joined to one script, and the scripts and styles are small."""

from __future__ import annotations

import gzip
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from django.test import Client

from embeds.widget.assets import (
    Asset,
    join_modules,
    later_script,
    loader,
    markdown_script,
    panel_script,
    panel_styles,
    used_of_other,
)
from tests.service import ROOT

FOLDER = ROOT / "static" / "embed"
IMPORT = re.compile(r"""^\s*(?:import|export)\b[^"';]*["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)
LOADER_MAX, PARSER_MAX = 6 * 1024, 11 * 1024
# What else the first opening sends is near 14,700 bytes, and a hundred more or less with ids and times: these keep a
# margin for it (tests/widget/test_panel_budget.py).
SCRIPTS_AND_STYLES_MAX = 31_050
LINES_MAX = 220
JOINED = """const $a = (() => {
const ONE = 1;
async function two() {}

return { ONE, two };
})();
const $b = (() => {
const { ONE, two } = $a;
class Three {}

return { Three };
})();"""


def modules(folder: Path, **sources: str) -> str:
    for name, source in sources.items():
        (folder / f"{name}.js").write_text(source)
    return join_modules(folder)


def test_each_module_becomes_a_function_after_those_that_it_imports(tmp_path: Path) -> None:
    joined = modules(
        tmp_path,
        b='import { ONE, two } from "./a.js";\nexport class Three {}\n',
        a="export const ONE = 1;\nexport async function two() {}\n",
    )
    assert joined == JOINED


def test_modules_are_joined_in_one_order_on_every_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest of the script is a part of its address, which every host of a service has to know."""
    joined = modules(tmp_path, a="export const a = 1;\n", b="export const b = 2;\n", c="export const c = 3;\n")
    listed = sorted(tmp_path.glob("*.js"), reverse=True)
    for files in (listed, listed[::-1]):
        monkeypatch.setattr(Path, "glob", lambda *_, files=files: iter(files))
        assert join_modules(tmp_path) == joined


def test_modules_of_another_folder_are_those_of_the_function_around(tmp_path: Path) -> None:
    joined = modules(tmp_path, c='import { h } from "../panel/dom.js";\nimport { t } from "../panel/words.js";\n')
    assert joined == "const $c = (() => {\nconst { h } = $dom;\nconst { t } = $words;\n\nreturn {  };\n})();"
    assert used_of_other(tmp_path) == "$dom, $words"


@pytest.mark.parametrize(
    "line",
    ['import "./a.js";', 'import * as a from "./a.js";', 'import { x as y } from "./a.js";', "export default 1;"],
)
def test_import_or_export_in_another_form_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(ValueError, match=r"^b\.js: "):
        modules(tmp_path, a="export const x = 1;\n", b=f"{line}\n")


@pytest.mark.parametrize(
    ("path", "asset"), [("panel.js", panel_script()), ("later.js", later_script()), ("panel.css", panel_styles())]
)
def test_asset_is_stored_by_browsers_only_under_its_own_digest(client: Client, path: str, asset: Asset) -> None:
    current = client.get(f"/embed/{path}", {"v": asset.digest}, headers={"Accept-Encoding": "gzip"})
    assert (current.content, current.headers["Content-Encoding"]) == (asset.gzipped, "gzip")
    assert current.headers["Content-Type"] == asset.content_type
    assert current.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    other = client.get(f"/embed/{path}", {"v": "of another release"})
    assert (other.status_code, other.content) == (200, asset.plain)
    assert other.headers["Cache-Control"] == "no-cache"
    unchanged = client.get(f"/embed/{path}", headers={"If-None-Match": other.headers["ETag"]})
    assert unchanged.status_code == 304


def test_gzipped_scripts_and_styles_and_the_lines_of_modules_have_limits() -> None:
    assert len(loader().gzipped) <= LOADER_MAX
    assert len(markdown_script().gzipped) <= PARSER_MAX
    assert len(panel_script().gzipped) + len(panel_styles().gzipped) <= SCRIPTS_AND_STYLES_MAX
    assert gzip.decompress(panel_script().gzipped) == panel_script().plain
    lines = {file.name: len(file.read_text().splitlines()) for file in (FOLDER / "panel").glob("*.js")}
    assert lines
    assert {name: count for name, count in lines.items() if count > LINES_MAX} == {}


def imports_of(script: Path) -> set[Path]:
    return {(script.parent / name).resolve() for name in IMPORT.findall(script.read_text(encoding="utf-8"))}


def test_imports_of_scripts_are_acyclic_and_exist() -> None:
    for text in ('import { a } from "./b.js";', 'import "./b.js";', 'export { a } from "./b.js";'):
        assert IMPORT.findall(text) == ["./b.js"]
    graph = {script.resolve(): imports_of(script) for script in FOLDER.rglob("*.js")}
    assert sum(map(len, graph.values())) > 20
    TopologicalSorter(graph).prepare()
    assert {name for names in graph.values() for name in names if not name.is_file()} == set()
