"""The client installs by itself: a wheel with its types and its command, which needs nothing of the service."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.service import ROOT

PROJECT = ROOT / "clients/python"
SERVICE_PACKAGES = {"config", "kernel", "runtime", "messaging", "agents", "reactions", "embeds", "tests", "django"}


@pytest.mark.slow
@pytest.mark.processes
def test_the_wheel_has_the_sources_the_types_and_the_command(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "--wheel-dir", tmp_path, PROJECT], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("community_messaging_client-*-py3-none-any.whl")
    target = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    assert files_below(target / "community_messaging") == files_below(PROJECT / "src/community_messaging")
    assert (target / "community_messaging/py.typed").exists()
    command = [sys.executable, "-m", "community_messaging", "--version"]
    finished = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(target)}, check=True, capture_output=True, text=True
    )
    assert finished.stdout == "cm, version 1.0.0\n"
    entry_points = next(target.glob("*.dist-info/entry_points.txt")).read_text()
    assert "cm=community_messaging.cli:main" in entry_points.replace(" ", "")


def files_below(folder: Path) -> set[str]:
    files = (file for file in folder.rglob("*") if file.is_file() and file.parent.name != "__pycache__")
    return {str(file.relative_to(folder)) for file in files}


def test_the_client_imports_what_its_project_declares_and_nothing_of_the_service() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    declared = {line.partition(">=")[0].replace("-", "_") for line in project["dependencies"]}
    imported = {
        name.partition(".")[0]
        for file in (PROJECT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in names_imported(node)
    }
    assert imported & SERVICE_PACKAGES == set()
    assert imported - sys.stdlib_module_names - {"community_messaging", "keyring"} == declared


def names_imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
    return []
