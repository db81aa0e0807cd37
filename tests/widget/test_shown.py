"""What a reader sees in the widget of a site: the posts of its community alone, or with `everyone` those of others too.

`tests/embeds/test_shown.py` has the same for the API.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from embeds.widget.locales import words
from messaging.communities.bans import ban_account
from messaging.models import Account, Message
from messaging.moderation.pages import hide_here
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory
from tests.widget.clock import poll
from tests.widget.live import Live
from tests.widget.test_panel_own import write

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COUNTED = "community-embed b"
MISSING = words("en")["error"]["message_not_found"]
READS = (
    "/api/messages",
    "/v1/changes",
    "/v1/changes/stream",
    "/v1/presence/participants",
    "/v1/search",
)


def contents(page: Page) -> Locator:
    return page.locator(".thread > .list > article > .body > .said > .content")


def of_strangers(live: Live) -> list[Message]:
    """A post without a community, and one of another."""
    return [
        live.message(content="Nobody's", community=None),
        live.message(content="Another's", community=CommunityFactory()),
    ]


def post_as_strangers(live: Live) -> None:
    live.post("Nobody's new", communityId=None)
    live.post("Another's new", communityId=str(CommunityFactory().pk))


def reload_list(page: Page) -> None:
    page.evaluate("dispatchEvent(new Event('pageshow'))")
    page.get_by_label("Order").select_option("oldest")
    page.locator(".thread[aria-busy=false]").wait_for()


WAYS: dict[str, Callable[[Page], None]] = {"poll": poll, "list": reload_list}


@pytest.mark.parametrize("way", WAYS)
def test_posts_of_strangers_are_neither_listed_nor_arrive(live: Live, way: str) -> None:
    live.context.clock.install()
    live.message(content="Own")
    of_strangers(live)
    page = live.follow_alone()
    expect(contents(page)).to_have_text(["Own"])
    post_as_strangers(live)
    live.post("Own new")
    WAYS[way](page)
    expect(contents(page).filter(has_text="Own new")).to_have_count(1)
    assert sorted(contents(page).all_text_contents()) == ["Own", "Own new"]
    assert live.errors == []


@pytest.mark.parametrize("way", WAYS)
def test_posts_of_strangers_are_shown_where_the_owner_shows_everyone_but_not_what_is_hidden_here(
    live: Live, way: str
) -> None:
    live.context.clock.install()
    live.change(shows="everyone")
    live.message(content="Own")
    hidden, _ = of_strangers(live)
    hide_here(community_id=live.embed.community_id, message_id=hidden.pk, by=SuperAdminFactory())
    page = live.follow_alone()
    expect(contents(page)).to_have_text(["Another's", "Own"])
    post_as_strangers(live)
    WAYS[way](page)
    expect(contents(page)).to_have_count(4)
    assert sorted(contents(page).all_text_contents()) == ["Another's", "Another's new", "Nobody's new", "Own"]


@pytest.mark.parametrize(
    ("shows", "count", "found"), [("community", "52", "Nothing found"), ("everyone", "55", "3 results")]
)
def test_counts_and_search_have_what_the_thread_shows(live: Live, shows: str, count: str, found: str) -> None:
    live.change(shows=shows)
    live.messages(51, "A reply", parent=live.message(content="Own"), author=PersonFactory())
    for n in range(3):
        live.message(content=f"Nobody's {n}", community=None)
    live.attributes = " data-count"
    live.after = f"<b data-community-count='{live.url}'></b>"
    page, panel = live.open()
    expect(page.locator(COUNTED)).to_have_text(count)
    expect(page.locator("[data-community-count]")).to_have_text(count)
    panel.locator("#find").click()
    panel.get_by_role("searchbox").fill("Nobody's")
    expect(panel.locator(".search [role=status]")).to_have_text(found)


def test_a_link_leads_to_no_post_that_is_not_shown(live: Live) -> None:
    own, (nobodys, _) = live.message(content="Own"), of_strangers(live)
    page = live.context.new_page()
    page.goto(f"{live.url}#community-post-{nobodys.pk}")
    panel = page.frame_locator("iframe")
    expect(panel.locator("#toast")).to_have_text(MISSING)
    expect(panel.locator("article")).to_have_count(1)
    page.evaluate("(id) => { location.hash = `community-post-${id}`; }", str(own.pk))
    expect(panel.locator("article.linked")).to_contain_text("Own")


def test_what_a_reader_writes_is_of_the_community_and_shown_to_the_next(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    page = live.open_alone()
    write(page, "Mine")
    expect(contents(page)).to_have_text(["Mine"])
    expect(contents(live.open_alone())).to_have_text(["Mine"])
    assert Message.objects.get().community_id == live.embed.community_id


def test_every_read_of_posts_names_the_embed(live: Live, ada: Account, settings: Any) -> None:
    """A read without it would show the posts of everyone."""
    settings.STREAM_URL = live.app
    live.message(content="A reply", parent=live.message(content="First"))
    live.messages(25)
    live.signed_in(ada)
    asked: list[str] = []
    live.context.on("request", lambda request: asked.append(request.url))
    with live.context.expect_event("request", lambda request: "/v1/changes/stream" in request.url):
        page = live.open_alone()
    page.get_by_role("button", name="Show more posts").click()
    expect(contents(page)).to_have_count(26)
    page.get_by_label("Write a post…").press_sequentially("@per")
    expect(page.locator("#write [role=option]").first).to_be_visible()
    page.locator("#find").evaluate("(button) => button.click()")
    page.get_by_role("searchbox").fill("Post")
    expect(page.locator(".results button").first).to_be_visible()
    embeds = {urlsplit(url).path: parse_qs(urlsplit(url).query).get("embedId") for url in asked}
    of_posts = {path: ids for path, ids in embeds.items() if path.startswith(READS)}
    assert set(READS) <= set(of_posts)
    assert set(map(tuple, of_posts.values())) == {(str(live.embed.pk),)}  # type: ignore[arg-type]


def test_a_person_who_is_banned_here_is_not_shown_to_readers_of_everyone(live: Live) -> None:
    live.change(shows="everyone")
    person = PersonFactory()
    live.post("Before", by=person, communityId=None)
    ban_account(community_id=live.embed.community_id, account_id=person.pk, by=SuperAdminFactory(), reason="Spam.")
    live.post("After", by=person, communityId=None)
    expect(contents(live.open_alone())).to_have_text(["Before"])
