"""Checks the service against its OpenAPI document: schemathesis with all its checks, as every kind of caller."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.scenario import SIGN_OUT, Scenario

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
# An agent token is refused (403) on a write without a scope before the method is checked.
EXCLUDED = {"agent": ("--exclude-checks", "unsupported_method")}
PHASES = "examples,coverage,fuzzing"
# Chains along the links of the document: (caller, operations). With all operations at once, the generator begins only
# at those with ids that another operation returns.
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
    """The result of one caller's run. `output` is the report of schemathesis."""

    caller: str
    cases: int
    failures: int
    output: str


def follow_links(
    scenario: Scenario, chain: tuple[str, tuple[str, ...]], *, examples: int, home: Path, seed: int
) -> Fuzzed:
    """Follow a chain of operations `examples` times."""
    caller, operations = chain
    chosen = [part for name in operations for part in ("--include-operation-id", name)]
    return _run(scenario, caller, "--phases", "stateful", *chosen, examples=examples, home=home, seed=seed)


def fuzz(scenario: Scenario, caller: str, *, examples: int, home: Path, phases: str = PHASES, seed: int = 0) -> Fuzzed:
    """`examples`: the maximum for each operation and phase."""
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
    results = json.loads(report.read_text())
    cases = results["test_cases"]
    return Fuzzed(caller, cases["generated"], cases["unique_failures"] + len(results["errors"]), run.stdout)
