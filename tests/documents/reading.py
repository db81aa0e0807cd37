"""Parses the documents of the repository: blocks, commands, links, anchors, inline code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent

from tests.service import ROOT

TOP_LEVEL = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "clients/python/README.md")
DOCUMENTS = [*(ROOT / name for name in TOP_LEVEL), *sorted(ROOT.glob("docs/**/*.md"))]
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
SHELL = ("sh", "console")
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
INLINE_CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the language after its fence, and its text."""

    language: str
    text: str

    @property
    def is_shell(self) -> bool:
        return self.language in SHELL

    def commands(self) -> Iterator[str]:
        """Each command of a shell block; a quote or a backslash may continue it on further lines."""
        lines: list[str] = []
        for line in self.text.splitlines():
            lines.append(line)
            command = "\n".join(lines)
            if not line.endswith("\\") and _is_complete(command):
                lines.clear()
                if words(command):
                    yield command
        assert not lines, f"An open quote or a backslash at the end of a block: {lines}"


def text_of(name: str) -> str:
    return (ROOT / name).read_text()


def blocks(text: str) -> list[Block]:
    return [Block(found["language"], dedent(found["text"])) for found in FENCE.finditer(text)]


def shell_commands(name: str) -> list[str]:
    return [command for block in blocks(text_of(name)) if block.is_shell for command in block.commands()]


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    return FENCE.sub("", text)


def inline_code(text: str) -> list[str]:
    return INLINE_CODE.findall(prose(text))


def links(text: str) -> list[str]:
    return LINK.findall(INLINE_CODE.sub("", prose(text)))


def anchors(text: str) -> set[str]:
    """The URL fragments of the headings, as GitHub generates them."""
    headings = (INLINE_CODE.sub(r"\1", heading) for heading in HEADING.findall(prose(text)))
    return {NOT_IN_ANCHOR.sub("", heading.lower()).replace(" ", "-") for heading in headings}


def words(command: str) -> list[str]:
    return shlex.split(command.replace("\\\n", " "), comments=True)


def _is_complete(command: str) -> bool:
    try:
        words(command)
    except ValueError:
        return False
    return True
