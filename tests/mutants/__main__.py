"""Tries a random sample of changes of the code: a quick test of the changed line should notice each.

    python -m tests.mutants --seed 7 --sample 200 --only messaging

Functions change, and constants with SQL; not what a module does when it is imported, since no test runs that.

mutmut 3 leaves out functions with decorators, which the services are, and knows the tests of a function, not of a line.
cosmic-ray runs one command for each change, which starts a PostgreSQL and imports 500 modules.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutants.covering import ROOT

# No line is measured in another process.
QUICK = "not slow and not processes"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--only", default="", help="changes of the files whose paths begin with this")
    parser.add_argument("--coverage", type=Path, help="a folder for the coverage, which later runs read from there")
    parser.add_argument("--at-once", type=int, default=2)
    options = parser.parse_args()
    # The databases and files of all runs are in this folder, so they go also when a run is killed.
    with tempfile.TemporaryDirectory(prefix="mutants-") as home:
        coverage = options.coverage or Path(home) / "coverage"
        values = json.dumps(vars(options) | {"coverage": str(coverage.absolute())})
        environment = os.environ | {"TMPDIR": home, "MUTANTS": values}
        pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", QUICK]
        if not coverage.exists():
            coverage.mkdir()
            measured = [*pytest, "-n", "2", "--dist", "loadfile", "-p", "tests.mutants.covering"]
            subprocess.run(measured, cwd=ROOT, env=environment, check=False)
        tried = [*pytest, "-p", "tests.mutants.trying"]
        return subprocess.run(tried, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
