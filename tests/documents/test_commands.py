"""A command that a document prints for a running service is run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.documents.checks import is_run_by_a_test
from tests.documents.reading import NAMES, blocks, shell_commands, text_of
from tests.documents.runner import DocumentRunner
from tests.service import Service, running_service

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="no curl: put one on PATH")
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
    with closing(DocumentRunner(service)) as runner:
        for block in blocks(text_of(name)):
            runner.run_block(block)
