"""Joins ES modules to one script, so that a browser sends one request for all of them.

No build step and no bundler is needed: the modules import and export names in one form each, and never in a circle.
Each becomes a function that returns its exports. A script that is loaded later may use modules of another one: it
imports them from a folder beside its own.
"""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

IMPORT = re.compile(r'^import \{ (\w+(?:, \w+)*) \} from "\./(\w+)\.js";$', re.MULTILINE)
IMPORT_OF_OTHER = re.compile(r'^import \{ (\w+(?:, \w+)*) \} from "\.\./\w+/(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
# An import or export in any other form.
UNKNOWN = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def join_modules(folder: Path) -> str:
    """Return the modules of a folder, each after those that it imports."""
    sources = _sources(folder)
    imports = {name: [module for _, module in IMPORT.findall(source)] for name, source in sources.items()}
    return "\n".join(_function(name, sources[name]) for name in TopologicalSorter(imports).static_order())


def used_of_other(*folders: Path) -> str:
    """The names of the modules of another folder that those of these import: `$a, $b`."""
    sources = [source for folder in folders for source in _sources(folder).values()]
    used = {name for source in sources for _, name in IMPORT_OF_OTHER.findall(source)}
    return ", ".join(f"${name}" for name in sorted(used))


def _sources(folder: Path) -> dict[str, str]:
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.js"))}


def _function(name: str, source: str) -> str:
    exports = ", ".join(EXPORT.findall(source))
    body = source
    for form in (IMPORT, IMPORT_OF_OTHER):
        body = form.sub(r"const { \1 } = $\2;", body)
    body = EXPORT.sub("", body)
    if unknown := UNKNOWN.search(body):
        raise ValueError(f"{name}.js: this form is not supported: {unknown[0]}")
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"
