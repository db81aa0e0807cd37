"""Counts on the trigger and in elements of the page, and the events that the page may listen to."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.widget.live import intercept, wait_for_first
from tests.widget.sites import APP, HOST, Site, answering, html, tag
from tests.widget.test_loader_life import STRICT, navigate, show_view

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser]
BADGE = "community-embed b"
COUNTS = "**/v1/presence/counts"
LISTEN = """
window.told = [];
for (const name of ["open", "close", "posted", "counts"]) {
  document.addEventListener("community-embed:" + name, ({ detail }) => told.push([name, detail]));
}
"""
POSTED = {"type": "posted", "message": {"messageId": "m1", "parentId": None, "status": "published"}}


def span(url: str, text: str = "–") -> str:
    return f'<span data-community-count="{url}">{text}</span>'


def counts_of(page: Page) -> list[str]:
    return page.locator("[data-community-count]").all_text_contents()


@pytest.mark.journey
def test_badge_and_elements_are_filled_by_the_only_third_request(site: Site) -> None:
    site.headers["content-security-policy"] = STRICT
    site.posts = {f"{HOST}/": 1234, f"{HOST}/a?b=c": 2}
    relative = [span("/a?b=c"), span("a?b=c"), span(f"{HOST}/none")]
    unusable = [span("http://", "no URL"), span("mailto:x@y.example", "no page"), span("/" + "x" * 2048, "too long")]
    site.page = html(tag(data_count="", data_lang="de") + "".join(relative + unusable))
    page = site.open()
    expect(page.locator(BADGE)).to_have_text("1.234")
    expect(page.get_by_role("button", name="Talk 1.234")).to_be_visible()
    assert counts_of(page) == ["2", "2", "0", "no URL", "no page", "too long"]
    assert site.counted == [[f"{HOST}/", f"{HOST}/a?b=c", f"{HOST}/none", "mailto:x@y.example"]]
    assert site.app_paths() == ["/embed/v1.js", "/api/embeds/config/e1", "/v1/presence/counts"]
    assert {request.method for request in site.requests} == {"GET", "POST"}
    assert [text for text in site.reports() if "not_counted" in text] == site.reports()
    assert len(site.reports()) == 2


def test_at_most_100_urls_are_counted(site: Site) -> None:
    site.posts = {f"{HOST}/{n}": n for n in range(150)}
    site.page = html(tag() + "".join(span(f"/{n}") for n in range(150)) + span("/7"))
    page = site.open()
    expect(page.locator("[data-community-count]").nth(99)).to_have_text("99")
    assert counts_of(page) == [*map(str, range(100)), *["–"] * 50, "7"]
    assert [len(urls) for urls in site.counted] == [100]


def test_each_embed_counts_what_it_shows_and_a_refused_one_prevents_no_count(site: Site) -> None:
    site.page = html(
        tag("e1", data_count="") + tag("e2", data_count="", data_page_url="https://host.test/2") + tag("e3")
    )
    site.configs = {"e3": {"status": "paused"}}
    site.posts_of = {"e1": {f"{HOST}/": 1, f"{HOST}/2": 9}, "e2": {f"{HOST}/": 9, f"{HOST}/2": 2}}
    page = site.open()
    expect(page.get_by_role("button", name="Talk 1")).to_be_visible()
    expect(page.get_by_role("button", name="Talk 2")).to_be_visible()
    assert dict(zip(site.counted_for, site.counted, strict=True)) == {"e1": [f"{HOST}/"], "e2": [f"{HOST}/2"]}


def test_elements_and_scripts_count_what_the_first_active_embed_shows_or_the_one_that_they_name(site: Site) -> None:
    named = "".join(
        f'<i data-community-count="/x" data-service-id="{embed_id}">–</i>' for embed_id in ("e2", "e1", "e0", "e9")
    )
    site.context.add_init_script(LISTEN)
    site.page = html(tag("e0") + tag("e1") + tag("e2", data_lang="de") + span("/x") + named)
    site.configs = {"e0": {"status": "paused"}}
    site.posts_of = {"e0": {}, "e1": {f"{HOST}/x": 1111}, "e2": {f"{HOST}/x": 2222}}
    page = site.open()
    # A paused or unknown embed counts nothing, and no element of another one.
    expect(page.locator("[data-community-count]")).to_have_text(["1,111", "2.222", "1,111", "–", "–"])
    assert sorted(site.counted_for) == ["e1", "e2"]
    told = page.evaluate("told.map(([name, { id, counts }]) => [name, id, counts[0].posts])")
    assert sorted(told) == [["counts", "e1", 1111], ["counts", "e2", 2222]]
    (record,) = page.evaluate(f"CommunityEmbed.counts(['{HOST}/x'])")
    assert record["posts"] == 1111
    # Without the first, the second is the first active one.
    page.evaluate("CommunityEmbed.destroy('e1')")
    page.evaluate("document.body.append('More.')")
    expect(page.locator("[data-community-count]").first).to_have_text("2.222")
    (record,) = page.evaluate(f"CommunityEmbed.counts(['{HOST}/x'])")
    assert record["posts"] == 2222


@pytest.mark.parametrize("browser_has", ["", "delete URL.canParse"], ids=["", "as-safari-16"])
def test_navigation_counts_the_new_page_and_new_elements_also_those_of_a_later_view(
    site: Site, browser_has: str
) -> None:
    site.context.add_init_script(browser_has + LISTEN)
    site.config["pageRules"] = {"type": "exclude", "patterns": ["/admin/*"]}
    site.posts = {f"{HOST}/": 1, f"{HOST}/next": 2, f"{HOST}/x": 3, f"{HOST}/y": 4}
    site.page = html(tag(data_count="") + "<div id=app></div>" + span("/x"))
    page = site.open()
    badge, elements = page.locator(BADGE), page.locator("[data-community-count]")
    expect(badge).to_have_text("1")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<i data-community-count=\"/\"></i>')")
    navigate(page, "/next")
    expect(badge).to_have_text("2")
    expect(elements).to_have_text(["3", "1"])
    assert site.counted == [[f"{HOST}/", f"{HOST}/x"], [f"{HOST}/next"]]
    show_view(page, "/later", span("/y"))
    expect(elements).to_have_text(["4", "3", "1"])
    # A page without posts.
    expect(badge).to_be_hidden()
    assert sorted(url for urls in site.counted[2:] for url in urls) == [f"{HOST}/later", f"{HOST}/y"]
    navigate(page, "/admin/users")
    expect(page.locator("community-embed")).to_have_count(0)
    assert site.reports() == ["[community-embed] not shown: page_not_allowed e1"]


def test_elements_that_are_shown_again_on_the_same_page_send_no_request(site: Site) -> None:
    """Otherwise a site that renders its list when counts arrive would never stop."""
    site.posts = {f"{HOST}/x": 3}
    render = f"document.querySelector('#app').innerHTML = `{span('/x')}{span('/unknown')}`"
    site.context.add_init_script(f"document.addEventListener('community-embed:counts', () => {{ {render} }})")
    site.page = html(f"{tag()}<div id=app>{span('/x')}</div>")
    page = site.open()
    expect(page.locator("[data-community-count]")).to_have_text(["3", "0"])
    page.evaluate(render)
    expect(page.locator("[data-community-count]")).to_have_text(["3", "0"])
    assert site.counted == [[f"{HOST}/x"], [f"{HOST}/unknown"]]


def test_button_has_its_count_after_a_first_page_without_it(site: Site) -> None:
    site.config["pageRules"] = {"type": "exclude", "patterns": ["/admin/*"]}
    site.posts = {f"{HOST}/next": 2}
    site.page = html(tag(data_count=""))
    page = site.open(f"{HOST}/admin/users")
    navigate(page, "/next")
    expect(page.locator(BADGE)).to_have_text("2")
    assert site.counted == [[f"{HOST}/next"]]


def test_failed_counts_are_requested_again_on_the_next_page_only(site: Site) -> None:
    site.posts = {f"{HOST}/next": 2, f"{HOST}/x": 3}
    site.page = html(tag(data_count="") + span("/x"))
    failed: list[Route] = []

    def fail(route: Route) -> None:
        failed.append(route)
        route.abort()

    site.context.route(COUNTS, fail)
    with site.context.expect_event("requestfailed", lambda r: "counts" in r.url):
        page = site.open()
    page.evaluate("document.body.append('More.')")
    site.context.unroute(COUNTS)
    assert counts_of(page) == ["–"]
    navigate(page, "/next")
    expect(page.locator(BADGE)).to_have_text("2")
    assert counts_of(page) == ["3"]
    assert len(failed) == 1


def test_late_counts_of_the_former_page_are_not_shown(site: Site) -> None:
    site.posts = {f"{HOST}/": 1, f"{HOST}/next": 2}
    site.page = html(tag(data_count=""))
    site.context.add_init_script(LISTEN)
    late = intercept(site.context, COUNTS)
    page = site.open()
    first = wait_for_first(site.context, late)
    site.context.unroute(COUNTS)
    navigate(page, "/next")
    expect(page.locator(BADGE)).to_have_text("2")
    first.fallback()
    page.wait_for_function("told.length === 2")
    expect(page.locator(BADGE)).to_have_text("2")


def test_failed_counts_change_nothing_and_throw_nothing(site: Site) -> None:
    site.context.add_init_script("window.bad = []; onerror = onunhandledrejection = (event) => { bad.push(event); };")
    site.page = html(tag(data_count="") + span("/x"))
    for body in (None, "not json", "{}", '{"counts": [{"url": "x"}, {"url": "x", "pageId": "p1"}]}'):
        site.context.route(COUNTS, answering(body))
        with site.context.expect_event("requestfinished" if body else "requestfailed", lambda r: "counts" in r.url):
            page = site.open()
        # The page reads a response of its own after that of the loader.
        page.evaluate("fetch('/').then((response) => response.text())")
        assert counts_of(page) == ["–"], body
        expect(page.locator(BADGE)).to_be_hidden()
        assert page.evaluate("bad.length") == 0
    assert site.errors == []


def test_counts_of_a_script_are_a_promise_of_records(site: Site) -> None:
    site.posts = {"https://other.test/": 5}
    page = site.open()
    records: list[dict[str, Any]] = page.evaluate("CommunityEmbed.counts(['https://other.test/', 'x'])")
    assert [(record["url"], record["pageId"], record["posts"]) for record in records] == [
        ("https://other.test/", "p1", 5),
        ("x", None, 0),
    ]
    site.context.route("**/v1/presence/counts", lambda route: route.fulfill(status=429, body="{}"))
    refused = "CommunityEmbed.counts([]).then(() => 'counted', (error) => error.message)"
    assert page.evaluate(refused) == "counts 429"
    assert site.counted == [["https://other.test/", "x"]]


def test_events_have_the_embed_and_the_page(site: Site) -> None:
    site.context.add_init_script(LISTEN)
    site.posts = {f"{HOST}/a": 9}
    site.page = html(tag(data_count=""))
    page = site.open_panel(f"{HOST}/a")
    expect(page.locator(BADGE)).to_have_text("9")
    for message in (POSTED, POSTED | {"message": POSTED["message"] | {"status": "pending"}}):
        page.frames[-1].evaluate("([message, host]) => parent.postMessage(message, host)", [message, HOST])
    page.evaluate(f"window.postMessage({POSTED!r}, '*')".replace("None", "null"))
    page.wait_for_function("told.filter(([name]) => name === 'posted').length === 2")
    expect(page.locator(BADGE)).to_have_text("10")
    page.get_by_role("button", name="Close").click()
    told = page.evaluate("told")
    assert [name for name, _ in told] == ["counts", "open", "posted", "posted", "close"]
    assert {(detail["id"], detail["page"]) for _, detail in told} == {("e1", f"{HOST}/a")}
    assert [detail["counts"][0]["posts"] for name, detail in told if name == "counts"] == [9]
    assert [(detail["messageId"], detail["status"]) for name, detail in told if name == "posted"] == [
        ("m1", "published"),
        ("m1", "pending"),
    ]
    assert site.app_paths().count("/v1/presence/counts") == 1
    assert APP not in page.evaluate("JSON.stringify(told)")
