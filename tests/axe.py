"""axe in a page of a browser.

A run takes half a second of processor time, most of it for the colours, so each is made once: structure in each width,
colours in each scheme.
"""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# The rules whose result depends on the colour scheme.
COLOURS = ("color-contrast", "link-in-text-block")
# Only the violations leave the page: a result has thousands of elements beside them.
RUN = "options => axe.run(document, options).then(result => result.violations)"
_script: str = Axe().axe_script


def violations(page: Page, *, colours_only: bool = False) -> list[tuple[str, str]]:
    """Return each rule that the page breaks, with the first element that breaks it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_script)
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if colours_only:
        options["runOnly"] = {"type": "rule", "values": COLOURS}
    return [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in page.evaluate(RUN, options)]
