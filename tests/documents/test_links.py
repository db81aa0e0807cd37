"""Every file, heading and module that a document names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents.reading import DOCUMENTS, NAMES, anchors, inline_code, links, text_of
from tests.service import ROOT

README_LINES_MAX = 110
RECORDS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
SECTIONS = ("## Context", "## Decision", "## Consequences")
FOLDERS = "clients|config|messaging|agents|reactions|embeds|tests|docs|deploy|static|templates"
FILE = re.compile(rf"(?:{FOLDERS})/[\w./-]*")
MODULE = re.compile(r"(?:config|messaging|agents|reactions|embeds)(?:\.[a-z_]+)+")


@pytest.mark.parametrize("name", NAMES)
def test_links_resolve_to_files_and_headings(name: str) -> None:
    for link in links(text_of(name)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text()), link


@pytest.mark.parametrize("name", [name for name in NAMES if name != "CHANGELOG.md"])
def test_files_and_modules_that_are_named_exist(name: str) -> None:
    code = inline_code(text_of(name))
    files = [word for word in code if FILE.fullmatch(word)]
    modules = [word.replace(".", "/") for word in code if MODULE.fullmatch(word)]
    assert [word for word in files if not (ROOT / word).exists()] == []
    assert [word for word in modules if not ((ROOT / f"{word}.py").exists() or (ROOT / word).is_dir())] == []


def test_readme_is_at_most_110_lines() -> None:
    assert len(text_of("README.md").splitlines()) <= README_LINES_MAX


def test_every_document_is_linked() -> None:
    linked = {
        ((ROOT / name).parent / link.partition("#")[0]).resolve() for name in NAMES for link in links(text_of(name))
    }
    assert [path.name for path in DOCUMENTS if path not in linked and path.name != "README.md"] == []


def test_decision_records_are_numbered_consecutively() -> None:
    assert [path.name[:4] for path in RECORDS] == [f"{number:04}" for number in range(1, len(RECORDS) + 1)]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_decision_has_context_decision_and_consequences(path: Path) -> None:
    text = path.read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == list(SECTIONS)


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_a_record_has_the_number_of_its_file(record: Path) -> None:
    assert record.read_text().startswith(f"# {int(record.stem[:4])}. ")
