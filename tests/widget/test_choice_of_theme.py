"""Colours that a site chooses: by name, and by a style sheet of variables."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, Route, expect

from tests.widget.live import Live, intercept, wait_for_first
from tests.widget.sites import APP, HOST, Site, html, tag
from tests.widget.test_accessibility import add_messages, violations_of, violations_of_state
from tests.widget.test_loader_life import STRICT
from tests.widget.test_loader_panel import CONTRAST

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser]
# The sheet of a site has the same colours in each scheme.
ONE_LOOK = (("light", 390, False),)
DARK, LIGHT = "rgb(22, 23, 27)", "rgb(255, 255, 255)"
BACKGROUND = "(node) => getComputedStyle(node).backgroundColor"
TRIGGER = "community-embed .trigger"


def with_sheet(site: Site, sheet: str) -> None:
    def respond(route: Route) -> None:
        route.fulfill(body=sheet, content_type="text/css")

    site.context.route(f"{HOST}/theme.css", respond)
    site.page = html(tag(data_theme="/theme.css"))


GIVEN = "rgb(17, 68, 136)"
ACCENTS = {
    ":root { --community-accent: #ffe94d }": "color(srgb 1 0.913725 0.301961)",
    ":root { --brand: hsl(0 100% 30%); --community-accent: var(--brand) }": "color(srgb 0.6 0 0)",
    ":root { --community-accent: oklch(70% 0.1 200) }": None,
    # None of these is an opaque colour: the trigger has the colour of the embed.
    ":root { --community-accent: transparent }": GIVEN,
    ":root { --community-accent: rgb(255 0 0 / 50%) }": GIVEN,
    ":root { --community-accent: url(https://evil.test/x) }": GIVEN,
    ":root { --community-accent: red, blue }": GIVEN,
    ":root { --community-accent: red) }": GIVEN,
    ":root { --community-accent: inherit }": GIVEN,
    ":root { --community-accent: var(--none) }": GIVEN,
    "not css {{{": GIVEN,
}


def test_trigger_has_the_accent_if_that_is_an_opaque_colour(site: Site) -> None:
    for sheet, color in ACCENTS.items():
        with_sheet(site, sheet)
        page = site.open()
        trigger = page.locator(TRIGGER)
        shown = trigger.evaluate(BACKGROUND)
        assert color is None or shown == color, sheet
        if shown.startswith("rgb("):
            assert trigger.evaluate(CONTRAST) >= 4.5, sheet
        assert not [request.url for request in site.requests if "evil" in request.url]
        page.close()
    # Later pages may have the scripts in the cache of the browser.
    assert site.app_paths()[:3] == ["/embed/v1.js", "/embed/theme.js", "/api/embeds/config/e1"]
    assert {*site.app_paths()} == {*site.app_paths()[:3]}
    assert site.app_paths().count("/api/embeds/config/e1") == len(ACCENTS)


@pytest.mark.parametrize(
    ("head", "prefers", "is_dark", "theme"),
    [
        ("", "dark", True, None),
        ("", "light", False, None),
        ("<style>:root { color-scheme: light }</style>", "dark", False, "light"),
        ("<style>:root { color-scheme: dark }</style>", "light", True, "dark"),
        ("<style>:root { color-scheme: light dark }</style>", "dark", True, None),
        ("<style>:root { color-scheme: only light }</style>", "dark", False, "light"),
        ('<meta name="color-scheme" content="dark">', "light", True, "dark"),
        ('<meta name="color-scheme" content="light">', "dark", False, "light"),
        ('<meta name="color-scheme" content="light dark">', "light", False, None),
    ],
)
def test_without_a_choice_the_embed_has_the_scheme_of_its_page(
    site: Site, head: str, prefers: Any, is_dark: bool, theme: str | None
) -> None:
    site.page = html(tag(), head=head)
    page = site.context.new_page()
    page.emulate_media(color_scheme=prefers)
    page.goto(HOST)
    page.get_by_role("button", name="Talk").click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    dialog = page.get_by_role("dialog")
    assert dialog.evaluate(BACKGROUND) == (DARK if is_dark else LIGHT)
    assert page.frames[-1].evaluate("new URLSearchParams(location.search).get('theme')") == theme
    if head.startswith("<style>:root { color-scheme: dark"):
        page.evaluate("document.documentElement.style.colorScheme = 'light'")
        assert dialog.evaluate(BACKGROUND) == LIGHT


def test_sheet_that_is_missing_or_forbidden_leaves_the_colours_of_the_embed(site: Site) -> None:
    site.page = html(tag(data_theme="https://other.test/none.css"))
    site.context.route("https://other.test/**", lambda route: route.abort())
    assert site.open().locator(TRIGGER).evaluate(BACKGROUND) == GIVEN
    site.headers["content-security-policy"] = STRICT
    with_sheet(site, ":root { --community-accent: red }")
    assert site.open().locator(TRIGGER).evaluate(BACKGROUND) == GIVEN
    # A strict policy that allows the sheet is not violated.
    site.headers["content-security-policy"] = f"{STRICT}; style-src 'self'"
    with_sheet(site, ":root { --community-accent: #ff0000 }")
    assert site.open().locator(TRIGGER).evaluate(BACKGROUND) == "color(srgb 1 0 0)"
    assert site.console == []
    site.headers["content-security-policy"] = STRICT
    site.context.route(f"{APP}/embed/theme.js?*", lambda route: route.abort())
    page = site.open()
    assert page.locator(TRIGGER).evaluate(BACKGROUND) == GIVEN
    assert site.reports() == ["[community-embed] not shown: theme_unreachable e1"]
    assert site.errors == []


def test_panel_gets_the_variables_and_their_changes_until_the_embed_is_destroyed(site: Site) -> None:
    with_sheet(site, ":root { --community-text: #111 } .night { --community-text: #eee; --community-font: 'A B' }")
    page = site.open()
    page.get_by_role("button", name="Talk").click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    assert "theme=site#" in (page.locator("iframe").get_attribute("src") or "")
    page.evaluate("document.documentElement.className = 'night'")
    received = "received.filter(([, data]) => data.type === 'theme').map(([, data]) => data.values)"
    page.frames[-1].wait_for_function(f"{received}.at(-1).text === '#eee'")
    values = page.frames[-1].evaluate(received)
    assert values[0]["text"] == "#111"
    assert values[-1] | {"font": "'A B'"} == values[-1]
    assert list(values[-1]) == ["accent", "background", "surface", "text", "muted", "border", "radius", "font"]
    page.evaluate("CommunityEmbed.destroy()")
    assert page.locator("link").count() == 0
    assert site.errors == []


def test_sheet_of_an_embed_that_is_destroyed_while_it_loads_is_removed(site: Site) -> None:
    with_sheet(site, "")
    late = intercept(site.context, f"{HOST}/theme.css")
    page = site.context.new_page()
    page.goto(HOST)
    sheet = wait_for_first(site.context, late)
    page.evaluate("CommunityEmbed.destroy()")
    sheet.fallback()
    expect(page.locator("link")).to_have_count(0)
    expect(page.locator("community-embed")).to_have_count(0)
    assert site.errors == []


# ---- the panel ----


def open_themed(live: Live, theme: str, sheet: str = "") -> tuple[Page, FrameLocator]:
    live.attributes = f' data-theme="{theme}"'
    live.context.route(f"{live.host}/host/theme.css", lambda route: route.fulfill(body=sheet, content_type="text/css"))
    return live.open()


def colors_of(panel: FrameLocator) -> dict[str, str]:
    script = """(body) => {
      const { backgroundColor, color, fontFamily, colorScheme } = getComputedStyle(body);
      return { backgroundColor, color, fontFamily, colorScheme };
    }"""
    colors: dict[str, str] = panel.locator("body").evaluate(script)
    return colors


@pytest.mark.django_db(transaction=True)
def test_named_theme_overrides_the_preference_of_the_reader(live: Live) -> None:
    for theme, color in (("light", LIGHT), ("dark", DARK)):
        page, panel = open_themed(live, theme)
        for preferred in ("light", "dark"):
            page.emulate_media(color_scheme=preferred)  # type: ignore[arg-type]
            colors = colors_of(panel)
            assert (colors["backgroundColor"], colors["colorScheme"]) == (color, theme)
    assert not live.errors


SHEET = """:root {
  --community-background: #10243a; --community-surface: #1b3350; --community-text: #dfe8f2; --community-accent: gold;
  --community-muted: #24405e; --community-border: rgb(255 255 255 / 20%); --community-radius: 3px;
  --community-font: "Liberation Serif", serif;
}
.day { --community-background: #fffdf5; --community-surface: #f0ead8; --community-text: #fff8dc; }"""


@pytest.mark.django_db(transaction=True)
def test_panel_has_the_colours_of_the_site_with_enough_contrast(live: Live) -> None:
    add_messages(live)
    live.message(content="A [link](https://example.org/a).")
    page, panel = open_themed(live, "theme.css", SHEET)
    expect(page.locator("community-embed .close")).to_have_css("color", "rgb(255, 255, 255)")
    colors = colors_of(panel)
    assert (colors["backgroundColor"], colors["color"]) == ("rgb(16, 36, 58)", "rgb(223, 232, 242)")
    assert colors["colorScheme"] == "dark"
    assert colors["fontFamily"].startswith('"Liberation Serif"')
    muted = panel.locator(".meta").first
    # As given, it would have a contrast of 1.6.
    assert muted.evaluate("(node) => getComputedStyle(node).color") != "rgb(36, 64, 94)"
    assert violations_of(page, ONE_LOOK) == []
    page.evaluate("document.documentElement.className = 'day'")
    expect(panel.locator("body")).to_have_css("background-color", "rgb(255, 253, 245)")
    assert colors_of(panel)["colorScheme"] == "light"
    assert violations_of(page, ONE_LOOK) == []
    assert not live.errors


HOSTILE: list[dict[str, Any]] = [
    {"background": "transparent", "text": "#fff0", "accent": "rgb(0 0 0 / 0)"},
    {"background": "url(https://evil.test/)", "font": "url(https://evil.test/), x", "radius": "calc(1px * 1e9)"},
    {"background": "#777", "surface": "#787878", "text": "#777", "muted": "#777", "border": "#777"},
    {"background": "#000; } * { display: none", "radius": "9999px", "font": "x; color: red"},
    {"background": 5, "text": None, "accent": {}, "font": ["a"], "radius": True},
    {"background": "color(srgb 9 -9 none)", "text": "currentcolor", "muted": "inherit", "border": "var(--x, red)"},
]


@pytest.mark.django_db(transaction=True)
def test_hostile_values_leave_a_readable_panel_and_send_nothing(live: Live) -> None:
    live.message()
    page, panel = open_themed(live, "theme.css")
    sent: list[str] = []
    live.context.on("request", lambda request: sent.append(request.url))
    frame = "document.querySelector('community-embed').shadowRoot.querySelector('iframe').contentWindow"
    for values in [*HOSTILE, None, "x", []]:
        page.evaluate(f"([values, app]) => {frame}.postMessage({{ type: 'theme', values }}, app)", [values, live.app])
        panel.locator("body").evaluate("() => new Promise((done) => setTimeout(done, 20))")
        expect(panel.locator("article")).to_be_visible()
        assert panel.locator("article .content").evaluate(CONTRAST_ON_BODY) >= 4.5, values
    assert violations_of_state(page) == []
    assert [url for url in sent if "evil" in url] == []
    assert not live.errors


CONTRAST_ON_BODY = CONTRAST.replace("style.backgroundColor", "getComputedStyle(document.body).backgroundColor")
