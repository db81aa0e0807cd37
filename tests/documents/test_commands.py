"""Every command that a document prints exists; a command for a running service is run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest
from django.core.management import get_commands, load_command_class

from tests.commands.test_help import OURS
from tests.documents.checks import PYTHON, check_command, is_run_by_a_test
from tests.documents.reading import NAMES, blocks, inline_code, text_of
from tests.documents.runner import DocumentRunner
from tests.service import Service, running_service

OPTION = re.compile(r"--[a-z][a-z-]*")
COMMAND_NAME = re.compile(r"`([a-z_]+)")
# Inline code that is a command; placeholders such as COMMAND are not.
INLINE = re.compile(rf"(?:make|manage\.py|{re.escape(PYTHON)} (?:-m|manage\.py)) [a-z].*")
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="no curl: put one on PATH")


def shell_commands(name: str) -> list[str]:
    return [command for block in blocks(text_of(name)) if block.is_shell for command in block.commands()]


def readme_rows() -> list[str]:
    section = text_of("README.md").partition("## Commands")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| `")]


RUN = [name for name in NAMES if any(map(is_run_by_a_test, shell_commands(name)))]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Started as by `make run`; it creates its secrets."""
    with running_service(
        SECRET_KEY="", ROOT_KEY="", TOKEN_PEPPER="", STREAMS="1", WEBHOOKS="1", WEBHOOKS_ALLOW_LOCAL="1"
    ) as service:
        yield service


@pytest.mark.slow
@pytest.mark.processes
@needs_curl
@pytest.mark.parametrize("name", RUN)
def test_the_commands_of_a_document_run_in_order(service: Service, name: str) -> None:
    runner = DocumentRunner(service)
    for block in blocks(text_of(name)):
        runner.run_block(block)


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("name", NAMES)
def test_every_command_of_a_document_exists(name: str) -> None:
    inline = [code.replace("\\|", "|") for code in inline_code(text_of(name)) if INLINE.fullmatch(code)]
    for command in [*shell_commands(name), *inline]:
        check_command(command)


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


def test_the_readme_lists_every_management_command() -> None:
    named = {name for row in readme_rows() for name in COMMAND_NAME.findall(row.split("| ")[1])}
    assert named == set(OURS)


@pytest.mark.parametrize("row", readme_rows(), ids=lambda row: COMMAND_NAME.findall(row)[0])
def test_the_options_in_the_readme_exist(row: str) -> None:
    names = [name for name in COMMAND_NAME.findall(row) if name in OURS]
    parsers = [load_command_class(get_commands()[name], name).create_parser("manage.py", name) for name in names]
    known = {option for parser in parsers for option in parser._option_string_actions}
    assert set(OPTION.findall(row)) <= known
