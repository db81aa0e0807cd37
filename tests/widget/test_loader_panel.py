"""The panel and trigger of the loader: keyboard, focus, frame attributes, forged messages, positions, contrast."""

from __future__ import annotations

from itertools import product
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import expect

from tests.widget.sites import APP, HOST, Site, html, tag
from tests.widget.test_loader_life import PAGE_OF_FRAME, expect_triggers, navigate

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser]
HEAR = "addEventListener('message', ({ data }) => { window.heard ||= data === 'last'; })"
FOCUSED = "document.activeElement.shadowRoot?.activeElement?.className ?? document.activeElement.tagName"


@pytest.mark.journey
def test_keyboard_opens_and_closes_the_panel_and_restores_focus(site: Site) -> None:
    page = site.open()
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "trigger"
    page.keyboard.press("Enter")
    page.frame_locator("iframe").get_by_role("button").wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate(FOCUSED) == "trigger"
    # Until the page has focus again, the browser sends keys to the process of the frame.
    page.wait_for_function("document.hasFocus()")
    page.keyboard.press("Space")
    page.get_by_role("button", name="Close").focus()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    assert page.evaluate(FOCUSED) == "trigger"
    # On a small screen, the panel is modal and has all of it.
    page.set_viewport_size({"width": 320, "height": 600})
    page.get_by_role("button", name="Talk").click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    dialog = page.get_by_role("dialog")
    assert dialog.bounding_box() == {"x": 0, "y": 0, "width": 320, "height": 600}
    assert dialog.evaluate("(dialog) => dialog.matches(':modal')")
    page.frame_locator("iframe").get_by_role("button").focus()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert page.evaluate(FOCUSED) == "trigger"


def test_script_that_closes_the_panel_moves_only_the_focus_that_the_panel_has(site: Site) -> None:
    site.page = html(f"<input>{tag()}")
    for call, in_field, focused in (
        ("close('e1')", True, "INPUT"),
        ("destroy()", True, "INPUT"),
        ("close('e1')", False, "trigger"),
    ):
        page = site.open_panel()
        page.wait_for_function(f"({FOCUSED}) === ''")
        if in_field:
            page.locator("input").focus()
        page.evaluate(f"CommunityEmbed.{call}")
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert page.evaluate(FOCUSED) == focused
        assert site.reports() == []


def test_close_button_closes_the_panel_without_unloading_its_frame(site: Site) -> None:
    page = site.open_panel()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Talk").click()
    assert site.app_paths().count("/embed/panel") == 1
    expected = ["embed_load", "trigger_view", *["trigger_click", "panel_open"] * 2, "panel_close"]
    site.wait_for_events(page, len(expected))
    # The browser sends them in any order.
    assert sorted(site.event_names()) == sorted(expected)


def test_frame_is_sandboxed_and_its_url_names_page_and_origin(site: Site) -> None:
    site.page = html(tag(data_lang="de-AT"))
    page = site.open(f"{HOST}/a?b=c#d")
    page.get_by_role("button", name="Talk").click()
    frame = page.locator("iframe")
    assert (
        frame.get_attribute("sandbox")
        == "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox"
    )
    assert frame.get_attribute("title") == "Talk"
    address, _, fragment = (frame.get_attribute("src") or "").partition("#")
    assert address == f"{APP}/embed/panel?serviceId=e1&lang=de&host=host.test"
    assert dict(parse_qsl(fragment)) == {"pageUrl": f"{HOST}/a?b=c", "origin": HOST}
    request = next(request for request in site.requests if request.url.startswith(f"{APP}/embed/panel"))
    assert "referer" not in request.headers
    site.page = html(tag(data_page_url=f"{HOST}/canonical"))
    page = site.open(f"{HOST}/copy")
    page.get_by_role("button", name="Talk").click()
    assert "pageUrl=https%3A%2F%2Fhost.test%2Fcanonical&" in (page.locator("iframe").get_attribute("src") or "")


def test_panel_that_was_closed_on_another_page_loads_when_it_is_opened(site: Site) -> None:
    site.config["pageRules"] = {"type": "exclude", "patterns": ["/admin/*"]}
    page = site.open_panel()
    page.get_by_role("button", name="Close").click()
    navigate(page, "/admin/users")
    expect_triggers(page, 0)
    navigate(page, "/next")
    expect_triggers(page, 1)
    assert site.app_paths().count("/embed/panel") == 1
    page.get_by_role("button", name="Talk").click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    assert page.frames[-1].evaluate(PAGE_OF_FRAME) == f"{HOST}/next"
    page.frames[-1].wait_for_function("received.length")
    assert site.app_paths().count("/embed/panel") == 2


def test_panel_that_was_closed_before_it_was_ready_is_told_so(site: Site) -> None:
    site.panel = site.panel.replace('parent.postMessage({ type: "ready" }, origin);', "")
    page = site.open_panel()
    # A message of the document before it would be lost with that document.
    page.frames[-1].wait_for_function("typeof received === 'object' && document.readyState === 'complete'")
    page.get_by_role("button", name="Close").click()
    page.frames[-1].evaluate("parent.postMessage({ type: 'ready' }, origin)")
    # A hidden frame draws nothing, so a wait for its next drawing would not end.
    page.frames[-1].wait_for_function("received.some(([, data]) => data.type === 'page')", polling=20)
    assert "close" in page.frames[-1].evaluate("received.map(([, data]) => data.type)")
    assert page.evaluate("document.activeElement.tagName") == "COMMUNITY-EMBED"


def test_blocked_frame_offers_a_link_to_a_new_tab(site: Site) -> None:
    site.headers["content-security-policy"] = f"script-src {APP}; connect-src {APP}; frame-src 'none'"
    page = site.open()
    page.get_by_role("button", name="Talk").click()
    link = page.get_by_role("link", name="Open in a new tab")
    link.wait_for()
    assert (link.get_attribute("href") or "").startswith(f"{APP}/embed/panel?serviceId=e1")
    page.get_by_role("button", name="Close").click()
    assert page.get_by_role("dialog").count() == 0


def test_forged_messages_are_ignored(site: Site) -> None:
    page = site.open_panel()
    # The host page has heard the last of them.
    page.evaluate(HEAR)
    page.evaluate("window.postMessage({ type: 'close' }, '*')")
    page.evaluate(
        f"""() => new Promise((done) => {{
          const other = Object.assign(document.createElement("iframe"), {{ onload: done }});
          other.src = "{APP}/embed/panel#origin={HOST}";
          document.body.append(other);
        }})"""
    )
    page.frames[-1].evaluate(f"parent.postMessage({{ type: 'close' }}, '{HOST}'); parent.postMessage('last', '{HOST}')")
    page.wait_for_function("window.heard")
    assert page.get_by_role("dialog").count() == 1


CORNERS = {"bottom-right": "corner-tab", "bottom-left": "bubble", "top-right": "bubble", "top-left": "corner-tab"}


def test_trigger_has_the_configured_corner_type_and_size(site: Site) -> None:
    page = site.context.new_page()
    for size, (corner, kind) in product(("small", "medium", "large"), CORNERS.items()):
        site.config["triggerConfig"] |= {"type": kind, "position": corner, "size": size}
        page.goto(HOST)
        site.settle(page)
        box = page.get_by_role("button", name="Talk").bounding_box()
        assert box
        down, right = box["y"] > 400, box["x"] > 600
        assert corner == ("bottom" if down else "top") + "-" + ("right" if right else "left")
        assert box["height"] >= 32
        assert (abs(box["width"] - box["height"]) < 1) == (kind == "bubble")
        gap = min(box["y"], 800 - box["y"] - box["height"])
        assert (gap == 0) == (kind == "corner-tab")


def test_inline_trigger_follows_its_script(site: Site) -> None:
    site.page = html(f"<p id=before>Before.</p>{tag()}<p id=after>After.</p>")
    site.config["triggerConfig"] |= {"type": "inline"}
    page = site.open()
    place = "document.querySelector('community-embed').previousElementSibling.previousElementSibling.id"
    assert page.evaluate(place) == "before"
    trigger = page.get_by_role("button", name="Talk")
    trigger.click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    assert trigger.get_attribute("aria-expanded") == "true"
    trigger.click()
    assert trigger.get_attribute("aria-expanded") == "false"


COLOURS = "#fff #000 #777 #767676 #f00 #0f0 #00f #ff0 #0ff #f0f #123456 #abcdef #757575 #808080"
CONTRAST = """(button) => {
  const light = (text) => {
    const parts = text.match(/\\d+/g).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(button);
  const [low, high] = [light(style.color), light(style.backgroundColor)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""


def test_text_has_a_contrast_of_4_5_on_every_colour(site: Site) -> None:
    colors = COLOURS.split()
    site.page = html("".join(tag(f"c{index}") for index in range(len(colors))))
    site.configs = {f"c{n}": {"triggerConfig": {"color": color, "message": color}} for n, color in enumerate(colors)}
    page = site.open()
    for color in colors:
        assert page.get_by_role("button", name=color, exact=True).evaluate(CONTRAST) >= 4.5, color


def test_language_is_that_of_the_tag_then_page_then_browser(site: Site) -> None:
    site.context.add_init_script("Object.defineProperty(navigator, 'languages', { value: ['xx', 'es-MX', 'en'] })")
    site.config["triggerConfig"]["message"] = ""
    for attributes, page_lang, expected in (
        ({"data_lang": "ja"}, "de", "ディスカッション"),
        ({}, "de-CH", "Diskussion"),
        ({"data_lang": "xx"}, "pt_BR", "Discussão"),
        ({}, "", "Conversación"),
    ):
        site.page = html(tag(**attributes)).replace('lang="en"', f'lang="{page_lang}"')
        expect(site.open().get_by_role("button", name=expected)).to_have_count(1)
