"""The changes of a file that a test should notice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from tests.mutants.covering import ROOT

PAIRS = (("<", "<="), (">", ">="), ("==", "!="), ("in", "not in"), ("is", "is not"), ("and", "or"))
SWAPPED = dict(PAIRS) | {right: left for left, right in PAIRS}
OPERATOR = re.compile(rb"[<>]=?|[=!]=|\bnot\s+in\b|\bis\s+not\b|\b(?:in|is|and|or)\b")
COMMA = re.compile(rb"\s*,|")
# A term of a condition in SQL; parentheses and the expressions of an f-string are whole. The AND of BETWEEN is none.
_PART = r"""(?:(?!\bBETWEEN\b)[^()'"{}]|\{[^{}]*\}|\((?:[^()'"{}]|\{[^{}]*\}|\([^()'"]*\))*\))+?"""
_END = r"""(?=\s*(?:\)|"|$|\b(?:AND|OR|ORDER|GROUP|RETURNING|LIMIT|FOR|ON|LEFT|JOIN|UNION|WHERE|HAVING|THEN)\b))"""
TERM = re.compile(rf"(?<!BETWEEN)(?<!BETWEEN %s )\bAND\s+{_PART}{_END}|(?<=\bWHERE\s){_PART}\bAND\s")


@dataclass(frozen=True)
class Change:
    path: str
    line: int
    start: int
    end: int
    new: str
    # A constant of the module, with SQL.
    constant: str

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def file(self) -> Path:
        return ROOT / self.path

    @property
    def before(self) -> bytes:
        return self.file.read_bytes()

    @property
    def after(self) -> bytes:
        return self.before[: self.start] + self.new.encode() + self.before[self.end :]

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.before[self.start : self.end].decode(), self.new))
        return f"{self.path}:{self.line}: {old[:80]} → {new or 'nothing'}"


def changes_of(path: str) -> Iterator[Change]:
    """Those that can be compiled, in the order of the text."""
    source = (ROOT / path).read_bytes()
    tree, begins = ast.parse(source), [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    nodes = [node for node in ast.walk(tree) if hasattr(node, "lineno")]
    # Python 3.11 does not know the positions in an f-string.
    hidden = {each for node in nodes if isinstance(node, ast.JoinedStr) for each in ast.walk(node) if each is not node}
    assigned = [each for each in tree.body if isinstance(each, ast.Assign) and "WHERE" in ast.unparse(each.value)]
    constants: dict[ast.AST, str] = {each.value: ast.unparse(each.targets[0]) for each in assigned}
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    inside = {each for function in functions for part in function.body for each in ast.walk(part)} | {*constants}
    found = [
        # Lines stay where they are.
        Change(path, node.lineno, start, end, new + "\n" * source.count(b"\n", start, end), constants.get(node, ""))
        for node in nodes
        if node in inside and node not in hidden
        for start, end, new in _edits(node, source, begins)
    ]
    for change in sorted(found, key=lambda each: (each.start, each.end, each.new)):
        with suppress(SyntaxError):
            compile(change.after, path, "exec")
            yield change


def _edits(node: Any, source: bytes, begins: list[int]) -> Iterator[tuple[int, int, str]]:  # noqa: C901, PLR0912
    def span(node: Any) -> tuple[int, int]:
        return begins[node.lineno - 1] + node.col_offset, begins[node.end_lineno - 1] + node.end_col_offset

    start, end = span(node)
    match node:
        case ast.Compare(left=left, comparators=rest) | ast.BoolOp(values=[left, *rest]):
            for before, after in pairwise([left, *rest]):
                if found := OPERATOR.search(source, span(before)[1], span(after)[0]):
                    yield *found.span(), SWAPPED[" ".join(found[0].decode().split())]
        case ast.UnaryOp(op=ast.Not()):
            yield start, start + len("not"), ""
        case ast.Constant(value=bool(value)):
            yield start, end, str(not value)
        case ast.Constant(value=int(value)):
            yield start, end, str(value + 1)
            yield start, end, str(value - 1)
        case ast.Constant(value=str()) | ast.JoinedStr() if "WHERE" in (text := source[start:end].decode()):
            for term in TERM.finditer(text):
                first, last = (start + len(text[:place].encode()) for place in term.span())
                yield first, last, ""
        case ast.Expr(value=ast.Call()):
            yield start, end, "pass"
        case ast.Call(func=ast.Attribute(attr="filter" | "exclude" | "get" | "update"), keywords=keywords):
            for first, last in (span(each) for each in keywords if each.arg):
                comma = COMMA.match(source, last)
                yield first, comma.end() if comma else last, ""
        case ast.If(body=[ast.Raise()], orelse=[]) if not source.startswith(b"elif", start):
            yield start, end, "pass"
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield start, end, "return None"
