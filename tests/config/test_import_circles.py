"""No import circles among the modules of the service, imports inside functions included, those for annotations not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter

import pytest

from tests.service import ROOT

pytestmark = pytest.mark.slow

PACKAGES = (
    *("config", "kernel", "runtime", "messaging", "agents", "reactions", "embeds", "mails", "moving", "mcp_server"),
    *("account_area", "desk", "oauth"),
)


def modules() -> dict[str, ast.Module]:
    """The syntax tree of each module, by its dotted name."""
    files = (file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    named = ((".".join(file.relative_to(ROOT).with_suffix("").parts), file) for file in files)
    return {name.removesuffix(".__init__"): ast.parse(file.read_text(encoding="utf-8")) for name, file in named}


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, without what is imported for annotations alone."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING"):
            yield child
            yield from executed(child)


def imported(tree: ast.Module) -> Iterator[str]:
    for node in executed(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_there_are_no_import_circles() -> None:
    trees = modules()
    graph = {name: {other for other in imported(tree) if other in trees} for name, tree in trees.items()}
    # `from package import module` refers to the package too, which need not import the module.
    for name, others in graph.items():
        others -= {other for other in others if any(more.startswith(f"{other}.") for more in others)}
        others.discard(name)
    assert len(graph) > 100
    TopologicalSorter(graph).prepare()
