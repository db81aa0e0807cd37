"""Runs commands with a host clock ahead of the database clock."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from tests.service import ROOT

MINUTE, DAY = 60, 86_400
# Longer than the window of the hourly limits, and longer than a response is stored.
AHEAD = (61 * MINUTE, 8 * DAY)


def moved(seconds: int) -> dict[str, str]:
    """Variables of a Python process whose clock is `seconds` ahead, or behind if it is negative."""
    path = os.pathsep.join([str(ROOT / "tests" / "clock_ahead"), str(ROOT)])
    return {"PYTHONPATH": path, "CLOCK_AHEAD_SECONDS": str(seconds)}


def run_ahead(seconds: int, environment: Mapping[str, str], *command: str) -> str:
    """The output of `manage.py` with a clock that is `seconds` ahead."""
    program = [sys.executable, "manage.py", *command]
    variables = {**environment, **moved(seconds)}
    return subprocess.run(program, cwd=ROOT, env=variables, check=True, capture_output=True, text=True).stdout
