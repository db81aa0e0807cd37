"""Reads what git tracks, where there is a git and the tests are in a repository."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import pytest

from tests.service import ROOT


def git(*arguments: str) -> str:
    """Returns the output of a command of git. Skips the test without git, and outside of a repository."""
    if not _has_repository():
        pytest.skip("no git on PATH, or no repository")
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout


@cache
def _has_repository() -> bool:
    command = ["git", "rev-parse", "--git-dir"]
    return (
        shutil.which("git") is not None
        and not subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode
    )
