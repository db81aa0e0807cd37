"""@hey-api/openapi-ts generates a TypeScript client that compiles strictly and does the journey."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.journeys.node import NodePackages
from tests.journeys.start import Start

pytestmark = [pytest.mark.slow, pytest.mark.processes]

JOURNEY = Path(__file__).parent / "typescript_client" / "journey.ts"
STRICT = ("--strict", "--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--module", "nodenext")
TIMEOUT_SECONDS = 600


def test_the_generated_typescript_client_compiles_strictly_and_does_the_journey(
    node_packages: NodePackages, start: Start, tmp_path: Path
) -> None:
    run = {"cwd": tmp_path, "timeout": TIMEOUT_SECONDS}
    generated = node_packages.run("openapi-ts", "-i", start.document(tmp_path), "-o", tmp_path / "api", **run)
    assert generated.returncode == 0, generated.stdout + generated.stderr
    # A type for each operation and status would be hundreds of copies; LimitError extends Error.
    assert (tmp_path / "api" / "types.gen.ts").read_text().count("    requestId: string;") == 1
    journey = shutil.copy(JOURNEY, tmp_path)
    compiled = node_packages.run("tsc", *STRICT, "--outDir", tmp_path / "js", journey, **run)
    assert compiled.returncode == 0, compiled.stdout
    environment = node_packages.environment | start.variables("typescript")
    done = node_packages.run_script(tmp_path / "js" / "journey.js", env=environment, **run)
    assert done.stdout == "token_revoked", done.stdout + done.stderr
