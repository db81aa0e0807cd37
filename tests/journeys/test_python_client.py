"""openapi-python-client generates a client that compiles strictly and does the journey."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.start import Start

pytestmark = [pytest.mark.slow, pytest.mark.processes]

JOURNEY = Path(__file__).parent / "python_client" / "journey.py"
PACKAGE = "community_client"
TIMEOUT_SECONDS = 600


def test_the_generated_python_client_compiles_strictly_and_does_the_journey(start: Start, tmp_path: Path) -> None:
    generate(start.document(tmp_path), tmp_path / PACKAGE)
    journey = shutil.copy(JOURNEY, tmp_path)
    assert error_shapes(tmp_path / PACKAGE) == {"error.py", "limit_error.py"}
    checked = run("mypy", "--strict", "--config-file=", "--cache-dir", tmp_path / "cache", journey, tmp_path / PACKAGE)
    assert checked.returncode == 0, checked.stdout
    done = run("python", journey, **start.variables("python"))
    assert done.stdout == "token_revoked", done.stdout + done.stderr


def generate(document: Path, package: Path) -> None:
    settings = package.with_suffix(".yml")
    # Without its hooks: a fix of ruff for `__exit__` is wrong in the types.
    settings.write_text(f"package_name_override: {PACKAGE}\npost_hooks: []\n")
    options = ("--path", document, "--output-path", package, "--config", settings, "--meta", "none")
    generated = run("openapi-python-client", "generate", *options)
    output = generated.stdout + generated.stderr
    assert generated.returncode == 0, output
    # A schema that it cannot read would be missing in the client. Media types other than JSON have no classes.
    expected = ("/feeds/", "/api/embeds/analytics/events", "/v1/imported", "/v1/presence/counts")
    warnings = [line for line in output.splitlines() if line.startswith(("WARNING", "ERROR", "Unable"))]
    assert all(any(path in line for path in expected) for line in warnings), output


def error_shapes(package: Path) -> set[str]:
    """The modules of classes for the bodies of refusals. A class for each operation and status would be hundreds."""
    return {file.name for file in (package / "models").glob("*.py") if "    docs: str\n" in file.read_text()}


def run(program: str, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program of this Python environment."""
    command = [Path(sys.executable).with_name(program), *arguments]
    return subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS
    )
