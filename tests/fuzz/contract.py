"""The served document held against the service, by schemathesis with all its checks, as every kind of caller."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.scene import Scene

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
# An agent token is refused (403) on any write that names no scope, before anything looks at the method.
EXCLUDED = {"agent": ("--exclude-checks", "unsupported_method")}
PHASES = "examples,coverage,fuzzing,stateful"


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """What one caller's run came to. `said` is schemathesis's own report."""

    caller: str
    cases: int
    failures: int
    said: str


def fuzz(scene: Scene, caller: str, *, examples: int, home: Path, phases: str = PHASES, seed: int = 0) -> Fuzzed:
    """`examples`: at most so many for each operation and phase."""
    document, report = home / "openapi.json", home / f"{caller.replace(' ', '-')}.json"
    document.write_text(json.dumps(scene.document()))
    command = [
        *(Path(sys.executable).with_name("schemathesis"), "--config-file", CONFIGURATION, "run", document),
        *("--url", scene.service.base_url, "--phases", phases, "--max-examples", str(examples), "--seed", str(seed)),
        *("--report-json-path", report, *EXCLUDED.get(caller, ())),
        *(part for name, value in scene.callers[caller].items() for part in ("--header", f"{name}: {value}")),
    ]
    run = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert report.exists(), run.stdout + run.stderr
    found = json.loads(report.read_text())
    cases = found["test_cases"]
    return Fuzzed(caller, cases["generated"], cases["unique_failures"] + len(found["errors"]), run.stdout)
