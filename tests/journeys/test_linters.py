"""Linters of other projects find no error in the OpenAPI document."""

from __future__ import annotations

from pathlib import Path

import pytest
from drf_spectacular.generators import SchemaGenerator
from orjson import dumps

from tests.journeys.node import LOCK_FOLDER, NodePackages

pytestmark = [pytest.mark.slow, pytest.mark.processes]


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A file with the document."""
    file = tmp_path / "openapi.json"
    file.write_bytes(dumps(SchemaGenerator().get_schema(request=None, public=True)))
    return file


def test_redocly_finds_no_error(node_packages: NodePackages, served: Path) -> None:
    lint = node_packages.run("redocly", "lint", served, "--extends=recommended", "--format=stylish", cwd=served.parent)
    assert lint.returncode == 0, lint.stdout + lint.stderr


def test_spectral_finds_no_error(node_packages: NodePackages, served: Path) -> None:
    rules = LOCK_FOLDER / "spectral.json"
    lint = node_packages.run(
        "spectral", "lint", served, f"--ruleset={rules}", "--fail-severity=error", cwd=served.parent
    )
    assert lint.returncode == 0, lint.stdout + lint.stderr
