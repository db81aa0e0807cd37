"""A link to a comment of an earlier system opens the panel at the post that it became."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from moving.models import ImportedPost, Move, MoveStatus
from tests.waiting import eventually
from tests.widget.live import Live
from tests.widget.sites import HOST, Site, html, tag
from tests.widget.test_panel_addresses import expect_arrived, long_page

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_link_to_an_old_comment_opens_its_post(live: Live) -> None:
    messages = long_page(live, 3)
    community = live.embed.community
    for message, (format_name, source_id) in zip(
        messages, [("wordpress", "https://lantern.example/ 501"), ("isso", "7"), ("twikoo", "5f" * 12)], strict=True
    ):
        values = {"format": format_name, "file_name": "f", "digest": message.pk.hex, "size": 1}
        move = Move.objects.create(community=community, status=MoveStatus.DONE, **values)
        ImportedPost.objects.create(
            community=community, format=format_name, source_id=source_id, move=move, message_id=message.pk
        )
    page = live.context.new_page()
    page.goto(f"{live.url}#comment-501")
    panel = page.frame_locator("iframe")
    expect_arrived(panel, messages[0])
    page.evaluate("location.hash = 'isso-7'")
    expect_arrived(panel, messages[1])
    page.evaluate(f"location.hash = '{'5f' * 12}'")
    expect_arrived(panel, messages[2])
    # What the reader closes stays closed, also while the page changes.
    page.locator("community-embed .close").click()
    page.evaluate("document.body.append('more')")
    expect(page.locator("community-embed .trigger")).to_have_attribute("aria-expanded", "false")
    assert live.errors == []


OPENED = """[...document.querySelectorAll("community-embed")]
  .map((host) => host.shadowRoot.querySelector(".opened iframe")?.src).find((src) => src)"""


def opened(page: Page) -> str | None:
    """The id of the embed whose panel is open."""
    src = page.evaluate(OPENED)
    return src and parse_qs(urlsplit(src).query)["serviceId"][0]


def test_the_embed_that_has_the_post_opens_of_several(site: Site) -> None:
    site.page = html(tag("e1") + tag("e2"))
    site.imported = {("e2", "comment-501"): "p7"}
    page = site.open(f"{HOST}/#comment-501")
    assert eventually(lambda: opened(page) == "e2")
    frame = page.frame_locator("iframe")
    frame.get_by_role("button").wait_for()
    told = "received.map(([, message]) => message).filter(({ type }) => type === 'page').at(-1).id"
    assert page.frames[1].evaluate(told) == "p7"


# By fragment: whether the loader loads its script for old links, and whether that asks for a post.
FRAGMENTS = {
    "": (False, False),
    "#comments": (False, False),
    "#community-post-018f": (False, False),
    "#section-2": (True, False),
    "#comment-501": (True, True),
    "#comentario-018f-7a": (True, True),
    "#42": (True, True),
    "#text-501": (True, False),
    "#there-7": (True, False),
}


def test_only_old_anchors_without_an_element_are_looked_up_each_once(site: Site) -> None:
    site.page = html(tag() + '<p id="comment-9">A comment that the page still has.</p>')
    for fragment, (is_loaded, is_asked) in (FRAGMENTS | {"#comment-9": (True, False)}).items():
        site.requests.clear()
        page = site.open(f"{HOST}/{fragment}")
        page.locator(".trigger").wait_for(state="attached")
        for text in "ab":
            page.evaluate(f"document.body.append('{text}')")
        page.wait_for_load_state("networkidle")
        paths = site.app_paths()
        assert (paths.count("/embed/links.js"), paths.count("/v1/imported")) == (is_loaded, is_asked), fragment
        assert opened(page) is None or fragment.startswith("#community-post-")
        page.close()
    assert site.errors == []


def test_a_look_up_that_fails_changes_nothing(site: Site) -> None:
    for path in ("links.js", "imported"):
        site.context.route(f"**/{path}*", lambda route: route.abort())
        page = site.open(f"{HOST}/#comment-501")
        page.get_by_role("button", name="Talk").click()
        page.frame_locator("iframe").get_by_role("button").wait_for()
        site.context.unroute(f"**/{path}*")
        page.close()
    assert site.errors == []
