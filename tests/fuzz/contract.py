"""Checks the service against its OpenAPI document: schemathesis with all its checks, as every kind of caller."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.scenario import SIGN_OUT, Scenario

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
# An agent token is refused (403) on a write without a scope before the method is checked.
EXCLUDED = {"agent": ("unsupported_method",)}
# A link replaces parts of a body, which schemathesis then takes for invalid data. A repeated key is answered with the
# stored 201, also after its resource was deleted.
EXCLUDED_ALONG_LINKS = ("negative_data_rejection", "ensure_resource_availability")
PHASES = "examples,coverage,fuzzing"
# Chains along the links of the document: (caller, operations). With all operations at once, the generator begins only
# at those with ids that another operation returns.
POSTS = ("createMessage", "getMessage", "addReaction", "removeReaction", "listReactions")
COMMUNITIES = ("listCommunities", "getCommunityAtomFeed")
REQUESTS = (
    "requestAgent",
    "getAgentRequest",
    "approveAgentRequest",
    "rejectAgentRequest",
    "cancelAgentRequest",
    "listAgentRequests",
)
EMBEDS = (
    "createEmbedInstance",
    "getEmbedInstance",
    "updateEmbedInstance",
    "deleteEmbedInstance",
    "getEmbedAnalytics",
    "getEmbedBlacklist",
    "putEmbedBlacklist",
    "getEmbedConfig",
    "ingestAnalyticsEvent",
)
CHAINS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("nobody", ("normalizeUrl", "listMessages", "getPageAtomFeed")),
    ("nobody", COMMUNITIES),
    ("nobody", ("register", "login", "refreshSession", "logout")),
    ("agent", POSTS),
    ("person", ("createMessage", "editMessage", "reportMessage")),
    ("person", ("createMessage", "deleteMessage")),
    ("agent", ("searchMessages", "getMessage")),
    ("person", ("listInbox", "readInbox")),
    ("person", ("addReaction", "removeReaction")),
    ("super admin", REQUESTS),
    ("super admin", ("createAgentToken", "listAgentTokens", "rotateAgentToken", "revokeAgentToken")),
    ("signed in", EMBEDS),
)


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """The result of one caller's run. `output` is the report of schemathesis.

    `called` and `succeeded`: the operations that got a request, and those that a request succeeded in, each as
    `GET /path`.
    """

    caller: str
    cases: int
    failures: int
    output: str
    called: frozenset[str]
    succeeded: frozenset[str]


def follow_links(
    scenario: Scenario, chain: tuple[str, tuple[str, ...]], *, examples: int, home: Path, seed: int
) -> Fuzzed:
    """Follow a chain of operations `examples` times, with valid data: a link may replace what makes a body invalid."""
    caller, operations = chain
    chosen = [part for name in operations for part in ("--include-operation-id", name)]
    options = ("--phases", "stateful", "--mode", "positive", *chosen)
    return _run(scenario, caller, *options, examples=examples, home=home, seed=seed, excluded=EXCLUDED_ALONG_LINKS)


def fuzz(scenario: Scenario, caller: str, *, examples: int, home: Path, phases: str = PHASES, seed: int = 0) -> Fuzzed:
    """`examples`: the maximum for each operation and phase."""
    return _run(scenario, caller, "--phases", phases, examples=examples, home=home, seed=seed)


def _run(
    scenario: Scenario,
    caller: str,
    *options: str,
    examples: int,
    home: Path,
    seed: int,
    excluded: tuple[str, ...] = (),
) -> Fuzzed:
    document, report = home / "openapi.json", home / f"{caller.replace(' ', '-')}.json"
    events = report.with_suffix(".ndjson")
    document.write_text(json.dumps(scenario.document()))
    unchecked = (*EXCLUDED.get(caller, ()), *excluded)
    command = [
        *(Path(sys.executable).with_name("schemathesis"), "--config-file", CONFIGURATION, "run", document),
        *("--url", scenario.service.base_url, "--max-examples", str(examples), "--seed", str(seed), *options),
        *("--exclude-operation-id", SIGN_OUT, "--report-json-path", report),
        *(("--exclude-checks", ",".join(unchecked)) if unchecked else ()),
        *("--report-ndjson-path", events),
        *(part for name, value in scenario.callers[caller].items() for part in ("--header", f"{name}: {value}")),
    ]
    run = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert report.exists(), run.stdout + run.stderr
    results = json.loads(report.read_text())
    cases = results["test_cases"]
    failures = cases["unique_failures"] + len(results["errors"])
    statuses = set(_statuses(events))
    called = frozenset(operation for operation, _status in statuses)
    succeeded = frozenset(operation for operation, status in statuses if status // 100 == 2)
    return Fuzzed(caller, cases["generated"], failures, run.stdout, called, succeeded)


def _statuses(events: Path) -> Iterator[tuple[str, int]]:
    """(operation, status) of each response."""
    with events.open() as lines:
        for event in map(json.loads, lines):
            recorder = event.get("ScenarioFinished", {}).get("recorder") or {}
            for case, interaction in recorder.get("interactions", {}).items():
                value = recorder["cases"][case]["value"]
                # There is no response if the connection failed.
                if response := interaction.get("response"):
                    yield f"{value['method']} {value['path']}", response["status_code"]
