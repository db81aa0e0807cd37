"""axe in a page of a browser.

A run takes half a second of processor time, most of it for the colours of texts. They are checked where a page has a
combination of colours and font that no page before it had.
"""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# The rules whose result depends on the colour scheme.
COLOURS = ("color-contrast", "link-in-text-block")
# Only the violations leave the page: a result has thousands of elements beside them.
RUN = "options => axe.run(document, options).then(result => result.violations)"
# Colours change over a moment.
FINISH = "for (const one of document.getAnimations()) try { one.finish() } catch {}"
# What the colour rules read of each text that is visible: its style, that of a text around it if it is a link, and all
# backgrounds behind it. Null for a page with other documents or shadow trees.
COMBINATIONS = """() => {
  const all = [...document.querySelectorAll("*")];
  if (all.some((node) => node.shadowRoot || node.matches("iframe, object, embed"))) return null;
  const known = new Map();
  const behind = (node) => {
    if (!node) return "";
    if (!known.has(node)) {
      const { backgroundColor, backgroundImage, opacity, position, mixBlendMode, filter } = getComputedStyle(node);
      const own = [backgroundColor, backgroundImage, opacity, mixBlendMode, filter].join();
      const layer = ["fixed", "sticky", "absolute"].includes(position) ? position : "";
      const above = behind(node.parentElement);
      known.set(node, own === "rgba(0, 0, 0, 0),none,1,normal,none" && !layer ? above : `${above}>${own}${layer}`);
    }
    return known.get(node);
  };
  const text = (node) => {
    const { color, fontSize, fontWeight, textShadow, textDecorationLine } = getComputedStyle(node);
    return [color, fontSize, fontWeight, textShadow, textDecorationLine].join();
  };
  const isSeen = (node) => {
    const { width, height, right, bottom } = node.getBoundingClientRect();
    const { clip, clipPath } = getComputedStyle(node);
    return node.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      && width > 1 && height > 1 && right + scrollX > 0 && bottom + scrollY > 0
      && clip === "auto" && clipPath === "none";
  };
  const hasText = (node) => node.matches("input, select, textarea")
    || [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
  return [...new Set(all.filter((node) => hasText(node) && isSeen(node)).map((node) => [
    text(node),
    node.closest("a") ? text(node.closest("a").parentElement) : "",
    node.closest(":disabled, [aria-disabled=true]") ? "disabled" : "",
    behind(node),
  ].join("|")))];
}"""
_script: str = Axe().axe_script
# The combinations of pages without a violation of the rules of colours.
_checked: set[str] = set()


def violations(page: Page, *, colours_only: bool = False) -> list[tuple[str, str]]:
    """Return each rule that the page breaks, with the first element that breaks it."""
    page.evaluate(FINISH)
    found = page.evaluate(COMBINATIONS)
    has_new_colours = found is None or not _checked.issuperset(found)
    if colours_only and not has_new_colours:
        return []
    broken = _run(page, _options(colours_only=colours_only, has_colours=has_new_colours))
    if found and not any(rule in COLOURS for rule, _ in broken):
        _checked.update(found)
    return broken


def _options(*, colours_only: bool, has_colours: bool) -> dict[str, Any]:
    if colours_only:
        return {"runOnly": {"type": "rule", "values": COLOURS}}
    return {} if has_colours else {"rules": {rule: {"enabled": False} for rule in COLOURS}}


def _run(page: Page, options: dict[str, Any]) -> list[tuple[str, str]]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(_script)
    rules = page.evaluate(RUN, {"resultTypes": ["violations"], **options})
    return [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in rules]
