"""Tables of the documents agree with the code: settings, errors of agents, limits."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

from config import secrets
from kernel.api.exceptions import ApiError
from kernel.api.operations import all_operations
from tests.documents.reading import text_of
from tests.service import ROOT

pytestmark = pytest.mark.prose
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DEPENDENCIES = (*PYPROJECT["project"]["dependencies"], *PYPROJECT["dependency-groups"]["dev"])
PRODUCT = tuple(PYPROJECT["tool"]["importlinter"]["root_packages"])
SETTING = re.compile(r"`([A-Z][A-Z_]+)`")
CODE = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")


@cache
def settings_that_are_read() -> frozenset[str]:
    """Every name that is passed to a function of `config.env`, and the secrets."""
    texts = [file.read_text() for package in PRODUCT for file in (ROOT / package).rglob("*.py")]
    read = frozenset(name for text in texts if "env." in text for name in _names_read(ast.parse(text)))
    return read | {*secrets.NAMES, *map(secrets.previous, secrets.NAMES)}


def _names_read(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="env")), args=[ast.Constant(value=str(name)), *_]):
                yield name


def section(document: str, heading: str) -> str:
    return text_of(document).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def codes(errors: type[ApiError]) -> Iterator[str]:
    yield errors.default_code
    for error in errors.__subclasses__():
        yield from codes(error)


def test_settings_table_lists_exactly_the_settings_that_are_read() -> None:
    rows = [line.split("|")[1] for line in section("docs/operations.md", "Settings").splitlines() if "|" in line]
    assert {name for row in rows for name in SETTING.findall(row)} == settings_that_are_read()


def test_the_table_of_packages_lists_each_app_and_each_package_of_the_kernel() -> None:
    rows = section("docs/architecture.md", "Packages").splitlines()
    listed = {row.split("`")[1].rstrip("/") for row in rows if row.startswith("| `")}
    of_kernel = {f"kernel/{file.parent.name}" for file in (ROOT / "kernel").glob("*/__init__.py")}
    assert {*PRODUCT, *of_kernel} - listed == set()
    assert {package for package in listed if not (ROOT / package).is_dir()} == set()


def test_every_dependency_has_a_reason() -> None:
    reasons = section("CONTRIBUTING.md", "Dependencies")
    packages = {re.split(r"[^\w-]", package)[0] for package in DEPENDENCIES}
    without = {name for name in packages if not re.search(rf"\b{name}\b", reasons)}
    assert {name for name in without if not name.endswith("-stubs") and not name.startswith("types-")} == set()


def test_no_module_is_longer_than_the_style_allows() -> None:
    assert "over 400 lines (tests and migrations" in (ROOT / "CONTRIBUTING.md").read_text()
    modules = [file for package in PRODUCT for file in (ROOT / package).rglob("*.py")]
    lines = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in modules}
    long = {name for name, number in lines.items() if number > 400 and "/migrations/" not in name}
    assert long == set()


def test_no_action_of_a_viewset_is_longer_than_the_documents_say() -> None:
    assert "has at most 12 lines of code" in text_of("docs/architecture.md")
    files = [file for package in PRODUCT for file in (ROOT / package).rglob("*.py")]
    lines = {f"{file.relative_to(ROOT)} {name}": number for file in files for name, number in _actions(file)}
    assert len(lines) > 50
    assert {name: number for name, number in lines.items() if number > 12} == {}


def _actions(file: Path) -> Iterator[tuple[str, int]]:
    """Each action of the viewsets of a file, and its lines of code: without documentation and comments."""
    text = file.read_text()
    for node in ast.walk(ast.parse(text)) if "@operation(" in text else ():
        match node:
            case ast.FunctionDef(name=name, decorator_list=[*_, ast.Call(func=ast.Name(id="operation"))]):
                code = node.body[ast.get_docstring(node) is not None :]
                lines = text.splitlines()[code[0].lineno - 1 : code[-1].end_lineno]
                yield name, sum(not line.lstrip().startswith("#") for line in lines)


def test_the_drawing_of_import_rules_shows_the_layers_of_the_contracts() -> None:
    rules = section("docs/architecture.md", "Import rules").replace("inside kernel:", "").splitlines()
    drawn = [layers(line.split("→"), "│") for line in rules if "→" in line]
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    assert drawn == [layers(contract["layers"], "|") for contract in contracts if contract["type"] == "layers"]


def layers(rows: Iterable[str], separator: str) -> list[set[str]]:
    return [{package.strip() for package in row.split(separator)} for row in rows]


def test_the_glossary_is_in_alphabetical_order() -> None:
    rows = [line for line in text_of("docs/glossary.md").splitlines() if line.startswith("| ")][1:]
    terms = [row.split("|")[1].split(",")[0].strip(" `").lower() for row in rows]
    assert terms == sorted(terms)


def test_the_errors_of_agents_are_documented() -> None:
    documented = set(CODE.findall(section("docs/agents.md", "Errors")))
    operations = [operation for *_, operation in all_operations() if operation.accepts_agents]
    declared = {error.default_code for operation in operations for error in operation.errors}
    assert declared - documented == set()
    assert documented - set(codes(ApiError)) == set()


def test_the_hourly_limits_are_documented() -> None:
    limits = section("docs/agents.md", "Limits")
    assert "| `post`, `reply`, `quote` | 30 each;" in limits
    assert "| `react` | 120;" in limits
    assert settings.HOURLY_LIMITS == {"post": 30, "reply": 30, "quote": 30, "react": 120}
