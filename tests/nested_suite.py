"""Parts of the suite in a run of its own, with a database that differs: a copy of the template, if there is one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable

from tests.repeating import OUTCOME
from tests.service import ROOT

# What the run that starts it has set. With DJANGO_SETTINGS_MODULE, pytest-django would load the settings before there
# is a DATABASE_URL.
OF_THIS_RUN = (OUTCOME, "DATABASE_URL", "DATA_DIR", "DJANGO_SETTINGS_MODULE", "PYTEST_XDIST_WORKER")


def require_success(arguments: Iterable[str], **variables: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in OF_THIS_RUN}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
