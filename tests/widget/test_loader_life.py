"""The loader on various sites: client-side navigation, double and late inclusion, strict policies, hostile pages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.widget.live import intercept, wait_for_first
from tests.widget.sites import APP, HOST, SCRIPT, Site, answering, html, tag

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser]
STRICT = (
    f"default-src 'none'; script-src {APP}; connect-src {APP}; frame-src {APP}; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
LATE = f"""(id) => new Promise((done) => {{
  const script = Object.assign(document.createElement("script"), {{ src: "{SCRIPT}", onload: done }});
  script.dataset.serviceId = id;
  document.body.append(script);
}})"""

GLOBALS = "() => Object.getOwnPropertyNames(window)"
# The page that the loader names in the URL of the panel's frame.
PAGE_OF_FRAME = "new URLSearchParams(location.hash.slice(1)).get('pageUrl')"


def triggers(page: Page) -> int:
    return page.locator("community-embed").count()


def expect_triggers(page: Page, count: int) -> None:
    expect(page.locator("community-embed")).to_have_count(count)


def navigate(page: Page, path: str) -> None:
    """As a single-page site does."""
    page.evaluate("(path) => { history.pushState(null, '', path); document.title = path; }", path)
    page.wait_for_timeout(20)


def show_view(page: Page, path: str, view: str) -> None:
    """As a router does: it changes the URL first, and renders the view later."""
    page.evaluate(
        """([path, view]) => {
            history.pushState(null, "", path);
            setTimeout(() => {
                const app = document.querySelector("#app");
                app.innerHTML = view;
                for (const inert of app.querySelectorAll("script")) {
                    const script = document.createElement("script");
                    for (const { name, value } of inert.attributes) script.setAttribute(name, value);
                    inert.replaceWith(script);
                }
                app.append(path);
            });
        }""",
        [path, view],
    )
    page.locator("#app").get_by_text(path).wait_for()


@pytest.mark.parametrize("history_only", [False, True])
def test_client_side_navigation_applies_the_page_rules(site: Site, history_only: bool) -> None:
    if history_only:
        site.context.add_init_script("Object.defineProperty(window, 'navigation', { value: undefined })")
    site.config["pageRules"] = {"type": "patterns", "patterns": ["/blog/*"]}
    page = site.open(f"{HOST}/blog/1")
    expect_triggers(page, 1)
    navigate(page, "/about")
    expect_triggers(page, 0)
    navigate(page, "/blog/2")
    expect_triggers(page, 1)
    page.go_back()
    expect_triggers(page, 0)
    assert site.app_paths() == ["/embed/v1.js", "/api/embeds/config/e1"]


def test_open_panel_gets_the_new_page_and_closes_on_an_excluded_one(site: Site) -> None:
    site.config["pageRules"] = {"type": "exclude", "patterns": ["/admin/*"]}
    page = site.open_panel()
    navigate(page, "/next?x=1#part")
    page.frames[-1].wait_for_function("(url) => received.at(-1)[1].url === url", arg=f"{HOST}/next?x=1")
    received = page.frames[-1].evaluate("received.map(([origin, data]) => [origin, data.type, data.url])")
    assert [HOST, "page", f"{HOST}/next?x=1"] == received[-1]
    navigate(page, "/admin/users")
    expect_triggers(page, 0)
    assert page.evaluate("document.querySelector('dialog[open]')") is None


def test_fragment_is_no_new_page_unless_it_is_a_route(site: Site) -> None:
    page = site.open_panel()
    for fragment in ("#a", "#b", "#/route", "#!/bang"):
        page.evaluate("(fragment) => { location.hash = fragment }", fragment)
        page.wait_for_timeout(20)
    page.frames[-1].wait_for_function("(url) => received.at(-1)[1].url === url", arg=f"{HOST}/#!/bang")
    pages = page.frames[-1].evaluate("received.filter(([, data]) => data.type === 'page').map(([, data]) => data.url)")
    assert pages == [f"{HOST}/", f"{HOST}/#/route", f"{HOST}/#!/bang"]
    site.wait_for_events(page, 6)
    assert site.event_names().count("trigger_view") == 3


def test_embed_included_twice_shows_one_trigger_and_two_embeds_in_one_corner_do_not_overlap(site: Site) -> None:
    site.page = html(tag() + tag() + tag("e2"))
    site.configs = {"e1": {"triggerConfig": {"message": "One"}}, "e2": {"triggerConfig": {"message": "Two"}}}
    page = site.open()
    page.evaluate(LATE, "e1")
    expect_triggers(page, 2)
    boxes = [page.get_by_role("button", name=name).bounding_box() for name in ("One", "Two")]
    first, second = sorted((box["y"], box["y"] + box["height"]) for box in boxes if box)
    assert first[1] < second[0]
    assert site.app_paths().count("/api/embeds/config/e1") == 1
    assert site.reports() == ["[community-embed] not shown: already_included e1"]


def test_the_script_of_a_new_view_has_the_page_of_an_embed_that_floats(site: Site) -> None:
    site.posts = {f"{HOST}/one": 1, f"{HOST}/two": 2}
    site.page = html(f"<div id=app>{tag(data_count='', data_page_url=f'{HOST}/one')}</div>")
    page = site.open()
    trigger = page.get_by_role("button", name="Talk")
    expect(trigger).to_have_text("Talk1")
    show_view(page, "/second", tag(data_page_url=f"{HOST}/two"))
    expect(trigger).to_have_text("Talk2")
    trigger.click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    assert page.frames[-1].evaluate(PAGE_OF_FRAME) == f"{HOST}/two"
    show_view(page, "/third", tag(data_page_url=f"{HOST}/three"))
    page.frames[-1].wait_for_function("(url) => received.at(-1)[1].url === url", arg=f"{HOST}/three")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert site.app_paths().count("/api/embeds/config/e1") == 1
    assert site.reports() == []


def test_embed_can_be_inserted_late_and_again_and_adds_one_global_and_no_element_to_the_body(site: Site) -> None:
    site.page = html()
    page = site.context.new_page()
    page.goto(HOST)
    before = {*page.evaluate(GLOBALS)}
    page.evaluate(LATE, "late")
    site.settle(page)
    assert triggers(page) == 1
    assert {*page.evaluate(GLOBALS)} - before == {"CommunityEmbed"}
    # The element of the page and the script.
    assert page.evaluate("document.body.children.length") == 2
    page.get_by_role("button", name="Talk").click()
    page.evaluate("CommunityEmbed.destroy('late')")
    assert triggers(page) == 0
    navigate(page, "/other")
    assert triggers(page) == 0
    page.evaluate(LATE, "late")
    site.settle(page)
    assert triggers(page) == 1


def test_destroy_before_the_config_is_loaded_shows_no_trigger_and_another_survives_a_replaced_body(
    site: Site,
) -> None:
    site.page = html()
    page = site.context.new_page()
    page.goto(HOST)
    page.evaluate(f"({LATE})('soon').then(() => CommunityEmbed.destroy())")
    # The config of this one is loaded later.
    page.evaluate(LATE, "late")
    expect_triggers(page, 1)
    page.evaluate("document.body = document.createElement('body')")
    page.get_by_role("button", name="Talk").click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    assert triggers(page) == 1


@pytest.mark.journey
def test_strict_content_security_policy_is_not_violated(site: Site) -> None:
    site.headers["content-security-policy"] = STRICT
    page = site.open()
    page.evaluate(
        "document.addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective))"
    )
    page.get_by_role("button", name="Talk").click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    assert page.get_by_role("dialog").evaluate("(dialog) => getComputedStyle(dialog).borderRadius") == "16px"
    assert site.console == []


HOSTILE = {
    "a frozen history": "Object.freeze(history)",
    "no languages": "Object.defineProperty(navigator, 'languages', { value: null })",
    "no beacon": "navigator.sendBeacon = null",
    "a global of the same name": "window.CommunityEmbed = 'mine'",
    "fetch throws": "window.fetch = () => { throw new Error('no') }",
    "fetch rejects": "window.fetch = () => Promise.reject(new Error('no'))",
    "no shadow": "Element.prototype.attachShadow = undefined",
    "no sheets": "window.CSSStyleSheet = undefined",
}


def test_loader_throws_no_exception_into_a_hostile_page(site: Site) -> None:
    watch = (
        "window.bad = []; onerror = (text) => bad.push(text); onunhandledrejection = (event) => bad.push(event.type);"
    )
    for name, script in HOSTILE.items():
        page = site.context.new_page()
        page.add_init_script(watch + script)
        site.console.clear()
        page.goto(HOST)
        site.settle(page)
        if triggers(page):
            page.locator("community-embed button").first.click()
            page.locator("community-embed dialog[open]").or_(page.locator("iframe")).first.wait_for(state="attached")
        navigate(page, "/next")
        assert page.evaluate("bad") == [], name
        page.close()
    assert site.errors == []


# As Prototype.js 1.6, MooTools 1.2 and pages of our days change what browsers have, before the loader starts.
PROTOTYPE = """
Object.toJSON = (value) => `"${value}"`;
Array.prototype.toJSON = function () { return "[" + this.map(Object.toJSON).join(",") + "]"; };
String.prototype.toJSON = function () { return Object.toJSON(this); };
const each = function (work, thing) {
  const all = [];
  for (const one of this) all.push(work.call(thing, one, all.length));
  return all;
};
Array.prototype.map = Array.prototype.collect = each;
Array.prototype.entries = Array.prototype.toArray = function () { return [].concat(this); };
Array.prototype.reverse = function (inline) { return (inline === false ? this.toArray() : this).sort(() => -1); };
Array.from = (list) => (list ? [].slice.call(list) : []);
document.getElementsByClassName = () => [];
"""
MOOTOOLS = """
window.JSON = { encode: String, decode: eval };
Function.prototype.bind = function (bind) { return (...values) => this.apply(bind, values); };
Array.from = (item) => (item === null ? [] : item.length === undefined ? [item] : [].slice.call(item));
window.Element = function (tag) { return document.createElement(tag); };
window.Event = function (event) { return event; };
"""
FROZEN = """
for (const one of [Object, Array, Function, String, Promise, Map, Element, HTMLElement, Node, Document]) {
  Object.freeze(one.prototype);
}
Object.freeze(history); Object.freeze(customElements);
"""
PATCHED = """
const [push, send] = [history.pushState, window.fetch];
history.pushState = function (...values) { push.apply(this, values); dispatchEvent(new Event("locationchange")); };
window.fetch = (...values) => send.apply(window, values).then((response) => response.clone());
customElements.define = () => { throw new Error("no"); };
customElements.get = () => class {};
"""
# As it is found after the start of the loader.
REPLACED = "for (const name of ['fetch', 'JSON', 'URLSearchParams', 'CustomEvent', 'setTimeout']) window[name] = null"
BEFORE = {"prototype": PROTOTYPE, "mootools": MOOTOOLS, "frozen": FROZEN, "patched": PATCHED, "later": ""}


@pytest.mark.parametrize("name", BEFORE)
def test_pages_that_change_built_ins_have_right_counts_events_and_panels(site: Site, name: str) -> None:
    odd = f'{HOST}/a?q=1#"b\\c'
    site.posts = {f"{HOST}/plain": 3}
    site.page = html(f"{tag(data_count='')}<b data-community-count=/plain></b>")
    page = site.context.new_page()
    page.add_init_script(BEFORE[name])
    page.goto(HOST)
    expect(page.locator("b[data-community-count]")).to_have_text("3")
    assert site.counted == [[f"{HOST}/", f"{HOST}/plain"]]
    asked = page.evaluate("(url) => CommunityEmbed.counts([url]).then(([{ url }]) => url)", odd)
    assert asked == site.counted[-1][0] == odd
    if name == "later":
        page.evaluate(REPLACED)
    page.get_by_role("button", name="Talk").click()
    page.frame_locator("iframe").get_by_role("button").wait_for()
    assert page.frames[-1].evaluate(PAGE_OF_FRAME) == f"{HOST}/"
    site.wait_for_events(page, 4)
    assert site.event_names() == ["embed_load", "trigger_view", "trigger_click", "panel_open"]
    assert {event["pageUrl"] for event in site.events} == {f"{HOST}/"}
    page.evaluate("history.pushState(null, '', '/next'); document.title = 'next'")
    page.frames[-1].wait_for_function("(url) => received.at(-1)[1].url === url", arg=f"{HOST}/next")
    assert site.errors == []


def test_a_view_that_is_replaced_before_the_config_is_loaded_takes_its_discussion_with_it(site: Site) -> None:
    pending = intercept(site.context, "**/api/embeds/config/*")
    site.page = html(f"<div id=app>{tag(data_mode='inline')}</div><footer>End</footer>")
    page = site.context.new_page()
    page.goto(HOST)
    page.locator("#app > community-embed").wait_for(state="attached")
    show_view(page, "/other", "<p>A view without a discussion</p>")
    page.wait_for_function("!document.querySelector('community-embed')")
    site.context.unroute("**/api/embeds/config/*")
    with page.expect_response("**/api/embeds/config/*"):
        wait_for_first(site.context, pending).fallback()
    page.wait_for_timeout(50)
    assert (
        page.evaluate("[...document.querySelectorAll('community-embed')].map((host) => host.parentNode.nodeName)") == []
    )
    show_view(page, "/article", tag(data_mode="inline"))
    page.locator("#app > script + community-embed").wait_for(state="attached")
    expect(page.locator("community-embed")).to_have_count(1)
    assert site.errors == []


def test_invalid_config_is_reported_without_trigger_or_exception(site: Site) -> None:
    bodies = ["null", "[]", '"text"', "not json", None]
    patterns = '{"status": "active", "pageRules": {"type": "patterns", "patterns": 5}}'
    reasons = ["config_invalid"] * 4 + ["config_unreachable", "internal_error"]
    for body, reason in zip([*bodies, patterns], reasons, strict=True):
        site.context.route("**/api/embeds/config/*", answering(body))
        page = site.open()
        assert triggers(page) == 0, body
        assert reason in site.reports()[0]
    assert site.errors == []
