"""Where the trigger shows: the loader against the case tables that the server's own rules are tested with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from tests.widget.sites import HOST, SCRIPT, Site, html, tag

pytestmark = pytest.mark.browser
TABLES = Path(__file__).parent.parent / "embeds" / "data"

# Mounts one embed a case on the case's path, and answers which of them painted a trigger.
RUN = """async (cases) => {
  const said = [];
  console.info = (...words) => said.push(words.join(" "));
  const shown = [];
  for (const [index, path] of cases.entries()) {
    history.replaceState(null, "", path);
    const script = Object.assign(document.createElement("script"), { src: SCRIPT });
    script.dataset.serviceId = String(index);
    said.length = 0;
    CommunityEmbed.mount(script);
    while (!said.length && !document.querySelector("community-embed")) await new Promise((next) => setTimeout(next, 1));
    shown.push(Boolean(document.querySelector("community-embed")));
    CommunityEmbed.destroy(String(index));
  }
  return shown;
}""".replace("SCRIPT", json.dumps(SCRIPT))


def table(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((TABLES / name).read_text(encoding="utf-8"))
    return cases


def shown(site: Site, rules: list[dict[str, Any]], paths: list[str]) -> list[bool]:
    """Which of the rules show a trigger on the path at the same place."""
    site.page = html(tag("none"))
    site.config["status"] = "paused"
    page: Page = site.open()
    site.config["status"] = "active"
    site.configs = {str(index): {"pageRules": rule} for index, rule in enumerate(rules)}
    answers: list[bool] = page.evaluate(RUN, paths)
    return answers


def test_patterns(site: Site) -> None:
    cases = [case for case in table("path_patterns.json") if case["path"]]
    assert len(cases) >= 30
    rules = [{"type": "patterns", "patterns": [case["pattern"]]} for case in cases]
    answers = shown(site, rules, [quote(case["path"], safe="/*") for case in cases])
    assert [case for case, answer in zip(cases, answers, strict=True) if answer != case["matches"]] == []


def test_page_rules(site: Site) -> None:
    cases = table("page_rules.json")
    rules = [{"type": case["type"], "patterns": case["patterns"]} for case in cases]
    answers = shown(site, rules, [case["path"] for case in cases])
    assert [case for case, answer in zip(cases, answers, strict=True) if answer != case["shown"]] == []


def test_domains(site: Site) -> None:
    cases = [case for case in table("domains.json") if not case["blacklist"]]
    assert len(cases) >= 40
    page = site.context.new_page()
    wrong = []
    for case in cases:
        site.config["domainWhitelist"] = case["whitelist"]
        site.console.clear()
        if case["host"] == "null":
            page.goto("about:blank")
            page.set_content(site.page)
        else:
            page.goto(f"https://{case['host']}/")
        site.settle(page)
        if case["allowed"] != bool(page.locator("community-embed").count()):
            wrong.append(case)
        elif not case["allowed"]:
            assert "domain_not_allowed" in site.said()[0]
    assert wrong == []


def test_a_hostile_pattern_is_quick(site: Site) -> None:
    """The best of five: from mounting to the decision, fetching the config included."""
    milliseconds = """async ([run, path]) => {
      const start = performance.now();
      await eval(run)([path]);
      return performance.now() - start;
    }"""
    shown(site, [], [])
    site.configs = {"0": {"pageRules": {"type": "patterns", "patterns": ["*a" * 50 + "b"]}}}
    page = site.context.pages[-1]
    assert min(page.evaluate(milliseconds, [f"({RUN})", "/" + "a" * 2048]) for _ in range(5)) < 50


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
def test_it_says_once_why_it_shows_nothing(site: Site, status: int, config: dict[str, Any], reason: str) -> None:
    site.config_status = status
    site.config |= config
    page = site.open(f"{HOST}/y")
    page.evaluate("history.pushState(null, '', '/z')")
    page.wait_for_timeout(20)
    assert site.said() == [f"[community-embed] not shown: {reason} e1"]
    assert page.locator("community-embed").count() == 0
    assert site.errors == []
