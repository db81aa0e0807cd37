"""The served document held against the service, by schemathesis with all its checks, as every kind of caller."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.scenario import SIGN_OUT, Scenario

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
# An agent token is refused (403) on any write that names no scope, before anything looks at the method.
EXCLUDED = {"agent": ("--exclude-checks", "unsupported_method")}
PHASES = "examples,coverage,fuzzing"
# Chains along the links of the document: who calls, and which operations. (Left to choose among all of them, the
# generator begins only where it knows every id to come from.)
EMBEDS = ("createEmbedInstance", "getEmbedInstance", "updateEmbedInstance", "deleteEmbedInstance", "getEmbedAnalytics")
EMBEDS += ("getEmbedBlacklist", "putEmbedBlacklist", "getEmbedConfig")
CHAINS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("nobody", ("normalizeUrl", "listMessages")),
    ("agent", ("createMessage", "getMessage", "listReactions")),
    ("agent", ("addReaction", "removeReaction")),
    ("person", ("addReaction", "removeReaction")),
    ("super admin", ("requestAgent", "approveAgentRequest", "rejectAgentRequest", "cancelAgentRequest")),
    ("super admin", ("createAgentToken", "revokeAgentToken")),
    ("signed in", EMBEDS),
)


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """What one caller's run came to. `said` is schemathesis's own report."""

    caller: str
    cases: int
    failures: int
    said: str


def follow_links(
    scenario: Scenario, chain: tuple[str, tuple[str, ...]], *, examples: int, home: Path, seed: int
) -> Fuzzed:
    """`examples` walks along a chain of operations."""
    caller, operations = chain
    chosen = [part for name in operations for part in ("--include-operation-id", name)]
    return _run(scenario, caller, "--phases", "stateful", *chosen, examples=examples, home=home, seed=seed)


def fuzz(scenario: Scenario, caller: str, *, examples: int, home: Path, phases: str = PHASES, seed: int = 0) -> Fuzzed:
    """`examples`: at most so many for each operation and phase."""
    return _run(scenario, caller, "--phases", phases, examples=examples, home=home, seed=seed)


def _run(scenario: Scenario, caller: str, *options: str, examples: int, home: Path, seed: int) -> Fuzzed:
    document, report = home / "openapi.json", home / f"{caller.replace(' ', '-')}.json"
    document.write_text(json.dumps(scenario.document()))
    command = [
        *(Path(sys.executable).with_name("schemathesis"), "--config-file", CONFIGURATION, "run", document),
        *("--url", scenario.service.base_url, "--max-examples", str(examples), "--seed", str(seed), *options),
        *("--exclude-operation-id", SIGN_OUT, "--report-json-path", report, *EXCLUDED.get(caller, ())),
        *(part for name, value in scenario.callers[caller].items() for part in ("--header", f"{name}: {value}")),
    ]
    run = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert report.exists(), run.stdout + run.stderr
    found = json.loads(report.read_text())
    cases = found["test_cases"]
    return Fuzzed(caller, cases["generated"], cases["unique_failures"] + len(found["errors"]), run.stdout)
