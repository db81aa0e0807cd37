"""What every page of the account area must pass in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

PHONE: ViewportSize = {"width": 390, "height": 844}
DESKTOP: ViewportSize = {"width": 1440, "height": 900}
BOTH_SIZES = pytest.mark.parametrize("browser_context", [PHONE, DESKTOP], indirect=True, ids=["phone", "desktop"])


def check(page: Page, schemes: tuple[str, ...] = ("light", "dark")) -> None:
    """No violation of accessibility, one heading of the page, and nothing to scroll sideways."""
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        violations = Axe().run(page).response["violations"]
        found = [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in violations]
        assert found == [], (page.url, scheme)
    assert page.locator("h1").count() == 1, page.url
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url


def check_at_both_sizes(page: Page) -> None:
    """For a journey that is made once, on a phone. The colours do not depend on the size."""
    check(page)
    page.set_viewport_size(DESKTOP)
    check(page, ("light",))
    page.set_viewport_size(PHONE)
