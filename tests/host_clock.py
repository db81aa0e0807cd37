"""Commands on a host whose clock is ahead of the database's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from tests.service import ROOT

MINUTE, DAY = 60, 86_400
# Beyond the window of the hourly limits, and beyond the life of a stored response.
AHEAD = (61 * MINUTE, 8 * DAY)


def run_ahead(seconds: int, environment: Mapping[str, str], *command: str) -> str:
    """What `manage.py` prints where the clock is so far ahead."""
    path = os.pathsep.join([str(ROOT / "tests" / "clock_ahead"), str(ROOT)])
    moved = {**environment, "PYTHONPATH": path, "CLOCK_AHEAD_SECONDS": str(seconds)}
    program = [sys.executable, "manage.py", *command]
    return subprocess.run(program, cwd=ROOT, env=moved, check=True, capture_output=True, text=True).stdout
