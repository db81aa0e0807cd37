"""Every file, heading and module that a document names exists, and records of decisions have one form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents.reading import DOCUMENTS, NAMES, anchors, inline_code, links, text_of
from tests.service import ROOT

pytestmark = pytest.mark.prose
README_LINES_MAX = 110
RECORDS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
SECTIONS = ["## Context", "## Decision", "## Consequences"]
FOLDERS = "clients|config|messaging|agents|reactions|embeds|tests|docs|deploy|static|templates"
FILE = re.compile(rf"(?:{FOLDERS})/[\w./-]*")
MODULE = re.compile(r"(?:config|messaging|agents|reactions|embeds)(?:\.[a-z_]+)+")
# Each pair is a document and one of its links.
LINKS = [(name, link) for name in NAMES for link in links(text_of(name))]


def target_of(name: str, path: str) -> Path:
    return (ROOT / name).parent / path if path else ROOT / name


def test_links_resolve_to_files_and_headings() -> None:
    inner = [(name, *link.partition("#")) for name, link in LINKS if not link.startswith(("http://", "https://"))]
    assert len(inner) > 100
    assert [(name, path) for name, path, *_ in inner if not target_of(name, path).exists()] == []
    headings = [(name, path, anchor) for name, path, _, anchor in inner if anchor]
    assert headings
    assert [each for each in headings if each[2] not in anchors(target_of(*each[:2]).read_text())] == []


def test_files_and_modules_that_are_named_exist() -> None:
    code = [(name, word) for name in NAMES if name != "CHANGELOG.md" for word in inline_code(text_of(name))]
    files = [(name, word) for name, word in code if FILE.fullmatch(word)]
    modules = [(name, word.replace(".", "/")) for name, word in code if MODULE.fullmatch(word)]
    assert files
    assert modules
    assert [(name, word) for name, word in files if not (ROOT / word).exists()] == []
    unknown = [each for each in modules if not ((ROOT / f"{each[1]}.py").exists() or (ROOT / each[1]).is_dir())]
    assert unknown == []


def test_readme_is_at_most_110_lines() -> None:
    assert len(text_of("README.md").splitlines()) <= README_LINES_MAX


def test_every_document_is_linked() -> None:
    linked = {target_of(name, link.partition("#")[0]).resolve() for name, link in LINKS}
    assert [path.name for path in DOCUMENTS if path not in linked and path.name != "README.md"] == []


def test_records_of_decisions_are_numbered_and_have_context_decision_and_consequences() -> None:
    assert [path.name[:4] for path in RECORDS] == [f"{number:04}" for number in range(1, len(RECORDS) + 1)]
    assert RECORDS
    for path in RECORDS:
        text = path.read_text()
        assert text.startswith(f"# {int(path.stem[:4])}. "), path.name
        assert [line for line in text.splitlines() if line.startswith("## ")] == SECTIONS, path.name
