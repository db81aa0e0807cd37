"""What every page of the account area must pass in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pytest

from tests import axe

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

PHONE: ViewportSize = {"width": 390, "height": 844}
DESKTOP: ViewportSize = {"width": 1440, "height": 900}
_checks: WeakKeyDictionary[Page, int] = WeakKeyDictionary()
BOTH_SIZES = pytest.mark.parametrize("browser_context", [PHONE, DESKTOP], indirect=True, ids=["phone", "desktop"])
# Texts that leave their box, without those that scroll in it; and words of the navigation that are broken.
SPILLED = """() => {
  const scrolled = ".scroll, .scroll *, .tabs, .top ul, pre, pre *, svg *, .hidden-text, input, textarea, select";
  const isSpilled = (node) => node.clientWidth && node.scrollWidth > node.clientWidth + 1;
  const boxes = [...document.querySelectorAll("main *")].filter((node) =>
    !node.matches(scrolled) && getComputedStyle(node).display !== "inline" && isSpilled(node));
  const links = [...document.querySelectorAll(".top nav a")].filter((link) => link.offsetHeight > 50);
  return [...boxes, ...links].map((node) => node.outerHTML.slice(0, 200));
}"""


def check(page: Page, schemes: tuple[str, ...] = ("light", "dark")) -> None:
    """No violation of accessibility, one heading of the page, nothing to scroll sideways, every text in its box."""
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert axe.violations(page, colours_only=scheme != schemes[0]) == [], (page.url, scheme)
    assert page.locator("h1").count() == 1, page.url
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
    spilled = page.evaluate(SPILLED)
    assert spilled == [], page.url


def check_in_turn(page: Page) -> None:
    """Check a page of a journey on a phone at both sizes, with axe in one look; the next check takes the other look.

    All pages share a style sheet and a frame, and a journey has several pages of each kind.
    """
    number = _checks.get(page, 0)
    _checks[page] = number + 1
    for turn, (size, scheme) in enumerate(((DESKTOP, "dark"), (PHONE, "light")), start=number):
        page.set_viewport_size(size)
        check(page, (scheme,) if turn % 2 else ())
