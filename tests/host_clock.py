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


def run_ahead(seconds: int, environment: Mapping[str, str], *command: str) -> str:
    """The output of `manage.py` with a clock that is `seconds` ahead."""
    path = os.pathsep.join([str(ROOT / "tests" / "clock_ahead"), str(ROOT)])
    moved = {**environment, "PYTHONPATH": path, "CLOCK_AHEAD_SECONDS": str(seconds)}
    program = [sys.executable, "manage.py", *command]
    return subprocess.run(program, cwd=ROOT, env=moved, check=True, capture_output=True, text=True).stdout
