"""Every command that a document prints exists, and the README lists every management command with its options."""

from __future__ import annotations

import re

import pytest
from django.core.management import get_commands, load_command_class

from tests.commands.test_help import OURS
from tests.documents.checks import PYTHON, check_command, check_make_targets
from tests.documents.reading import NAMES, inline_code, shell_commands, text_of
from tests.documents.test_commands import RUN

pytestmark = pytest.mark.prose
OPTION = re.compile(r"--[a-z][a-z-]*")
COMMAND_NAME = re.compile(r"`([a-z_]+)")
# Inline code that is a command; placeholders such as COMMAND are not.
INLINE = re.compile(rf"(?:make|manage\.py|{re.escape(PYTHON)} (?:-m|manage\.py)) [a-z].*")


def printed(name: str) -> list[str]:
    inline = [code.replace("\\|", "|") for code in inline_code(text_of(name)) if INLINE.fullmatch(code)]
    return [*shell_commands(name), *inline]


@pytest.mark.processes
def test_every_command_of_a_document_exists() -> None:
    commands = [(name, command) for name in NAMES for command in printed(name)]
    assert len(commands) > 100
    targets: set[str] = set()
    for name, command in commands:
        try:
            targets |= check_command(command)
        except Exception as error:
            raise AssertionError(f"{name}: {command}") from error
    check_make_targets(targets)


def test_the_documents_with_commands_for_a_service_are_found() -> None:
    assert {
        "README.md",
        "SECURITY.md",
        "clients/python/README.md",
        "docs/agents.md",
        "docs/embedding.md",
        "docs/operations.md",
        "docs/webhooks.md",
    } <= set(RUN)


def test_the_readme_lists_every_management_command_and_its_options_exist() -> None:
    section = text_of("README.md").partition("## Commands")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in COMMAND_NAME.findall(row.split("| ")[1])} == set(OURS)
    for row in rows:
        names = [name for name in COMMAND_NAME.findall(row) if name in OURS]
        parsers = [load_command_class(get_commands()[name], name).create_parser("manage.py", name) for name in names]
        known = {option for parser in parsers for option in parser._option_string_actions}
        assert set(OPTION.findall(row)) <= known, row
