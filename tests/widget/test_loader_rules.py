"""The rules of the loader, tested with the case tables of the server's rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from tests.widget.sites import HOST, SCRIPT, Site, html, tag

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser]
TABLES = Path(__file__).parent.parent / "embeds" / "data"

# Mounts one embed per case on the path of the case, and returns which of them created a trigger.
RUN = """async (cases) => {
  const reports = [];
  console.info = (...parts) => reports.push(parts.join(" "));
  const shown = [];
  for (const [index, path] of cases.entries()) {
    history.replaceState(null, "", path);
    const script = Object.assign(document.createElement("script"), { src: SCRIPT });
    script.dataset.serviceId = String(index);
    reports.length = 0;
    CommunityEmbed.mount(script);
    const decided = () => reports.length || document.querySelector("community-embed");
    while (!decided()) await new Promise((next) => setTimeout(next, 1));
    shown.push(Boolean(document.querySelector("community-embed")));
    CommunityEmbed.destroy(String(index));
  }
  return shown;
}""".replace("SCRIPT", json.dumps(SCRIPT))


def table(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((TABLES / name).read_text(encoding="utf-8"))
    return cases


def shown(site: Site, rules: list[dict[str, Any]], paths: list[str]) -> list[bool]:
    """Return for each rule whether it shows a trigger on the path with the same index."""
    site.page = html(tag("none"))
    site.config["status"] = "paused"
    page: Page = site.open()
    site.config["status"] = "active"
    site.configs = {str(index): {"pageRules": rule} for index, rule in enumerate(rules)}
    results: list[bool] = page.evaluate(RUN, paths)
    return results


def test_patterns_match_the_case_table(site: Site) -> None:
    cases = [case for case in table("path_patterns.json") if case["path"]]
    assert len(cases) >= 30
    rules = [{"type": "patterns", "patterns": [case["pattern"]]} for case in cases]
    results = shown(site, rules, [quote(case["path"], safe="/*") for case in cases])
    assert [case for case, result in zip(cases, results, strict=True) if result != case["matches"]] == []


def test_page_rules_match_the_case_table(site: Site) -> None:
    cases = table("page_rules.json")
    rules = [{"type": case["type"], "patterns": case["patterns"]} for case in cases]
    results = shown(site, rules, [case["path"] for case in cases])
    assert [case for case, result in zip(cases, results, strict=True) if result != case["shown"]] == []


def test_hostile_pattern_is_matched_without_backtracking(site: Site) -> None:
    """With backtracking, 50 wildcards and 2,048 characters would not end."""
    shown(site, [], [])
    site.configs = {"0": {"pageRules": {"type": "patterns", "patterns": ["*a" * 50 + "b"]}}}
    page = site.context.pages[-1]
    assert page.evaluate(f"path => ({RUN})([path])", "/" + "a" * 2048) == [False]


@pytest.mark.parametrize(
    ("status", "config", "reason"),
    [
        (200, {"status": "paused"}, "embed_paused"),
        (200, {"status": "disabled"}, "embed_disabled"),
        (403, {}, "domain_not_allowed"),
        (404, {}, "embed_not_found"),
        (500, {}, "config_unreachable"),
        (200, {"pageRules": {"type": "patterns", "patterns": ["/x"]}}, "page_not_allowed"),
    ],
)
def test_loader_reports_once_why_it_shows_no_trigger(
    site: Site, status: int, config: dict[str, Any], reason: str
) -> None:
    site.config_status = status
    site.config |= config
    page = site.open(f"{HOST}/y")
    page.evaluate("history.pushState(null, '', '/z')")
    page.wait_for_timeout(20)
    assert site.reports() == [f"[community-embed] not shown: {reason} e1"]
    assert page.locator("community-embed").count() == 0
    assert site.errors == []
