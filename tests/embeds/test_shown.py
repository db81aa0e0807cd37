"""What an embed shows (`embedId`): the posts of its community, or those of everyone without what it keeps out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from embeds.domains import host_of_url
from embeds.host_proofs import is_named
from embeds.services import delete_embed, update_embed
from kernel.changes import reading
from kernel.changes.streams.events import render
from kernel.changes.streams.opening import Source
from kernel.jobs.queue import run_due
from messaging.changes.items import items_of
from messaging.changes.views import channel_of
from messaging.communities.bans import ban_account, lift_ban
from messaging.communities.services import create_community
from messaging.models import Message, Page, PostsChoice
from messaging.moderation.pages import hide_here, pin_message, show_here, unpin_message
from messaging.moderation.services import hide_message
from messaging.pages.page_ids import normalize
from messaging.privacy.erasing import request_erasure
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.embeds.making import UNKNOWN_ID, an_embed
from tests.embeds.sites import WORD, Site, everything_shown, names
from tests.factories import MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def community_site() -> Site:
    return Site("community")


@pytest.fixture
def open_site() -> Site:
    return Site("everyone")


def test_a_community_embed_shows_the_posts_of_its_community_alone(community_site: Site) -> None:
    site, stranger = community_site, PersonFactory()
    theirs = create_community(owner=stranger, name="Elsewhere")
    site.post(site.owner, "own", communityId=str(site.community.pk))
    foreign = [site.post(stranger, "nobody's"), site.post(stranger, "other's", communityId=str(theirs.pk))]
    for post in foreign:
        site.post(stranger, "reply", parentId=str(post.pk))
        assert site.listed(parentId=post.pk) == []
        assert Api().get(f"/api/messages/{post.pk}", embedId=site.embed.pk).error == "message_not_found"
        assert Api().get(f"/api/messages/{post.pk}").status == 200
    assert set(map(tuple, everything_shown(site).values())) == {("own",)}
    assert site.counted() == 1
    handles = [
        person["handle"] for person in site.ask("/v1/presence/participants", pageId=site.page.pk)["participants"]
    ]
    assert handles == [site.owner.handle]
    # Without the parameter, the API answers as before.
    assert names(Api().get("/api/messages", pageId=site.page.pk).json["messages"]) == ["nobody's", "other's", "own"]


def test_replies_and_pages_of_a_list_are_those_of_the_community(community_site: Site) -> None:
    site, stranger = community_site, PersonFactory()
    for number in range(5):
        own = site.post(site.owner, f"own{number}", communityId=str(site.community.pk))
        site.post(stranger, "nobody's")
    site.post(stranger, "reply", parentId=str(own.pk))
    assert site.listed(parentId=own.pk) == ["reply"]
    found: list[str] = []
    cursor = {}
    while True:
        page = site.ask("/api/messages", pageId=site.page.pk, limit=2, includeTopReply="true", **cursor)
        found += [message["content"].split()[0] for message in page["messages"]]
        if not page["hasMore"]:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert found == ["own4", "own3", "own2", "own1", "own0"]
    assert site.counted() == 6


def test_a_quote_of_a_post_that_is_not_shown_has_no_text(community_site: Site) -> None:
    site, stranger = community_site, PersonFactory()
    foreign, mine = site.post(stranger, "nobody's"), {"communityId": str(site.community.pk)}
    own = site.post(site.owner, "own", **mine)
    quoting = site.post(site.owner, "own", quoteId=str(foreign.pk), **mine)
    inside = site.post(site.owner, "own", quoteId=str(own.pk), **mine)
    quotes = {}
    for message in site.ask("/api/messages", pageId=site.page.pk)["messages"]:
        quotes[message["id"]] = (message["quoteId"], message["quote"] and message["quote"]["id"])
    assert quotes[str(quoting.pk)] == (str(foreign.pk), None)
    assert quotes[str(inside.pk)] == (str(own.pk), str(own.pk))
    one = site.ask(f"/api/messages/{quoting.pk}")
    assert (one["quote"], one["quoteId"]) == (None, str(foreign.pk))
    found = site.ask("/v1/search", q=WORD)["messages"] + [c["message"] for c in site.ask("/v1/changes")["changes"]]
    assert [m["quote"] for m in found if m["id"] == str(quoting.pk)] == [None, None]
    assert Api().get(f"/api/messages/{quoting.pk}").json["quote"]["id"] == str(foreign.pk)


def test_an_embed_of_everyone_leaves_out_what_its_moderators_hide_there(open_site: Site) -> None:
    site, stranger, elsewhere = open_site, PersonFactory(), Site("everyone")
    hidden = site.post(stranger, "hidden")
    reply = site.post(stranger, "reply", parentId=str(hidden.pk))
    deep = site.post(stranger, "reply", parentId=str(reply.pk))
    site.post(site.owner, "own", communityId=str(site.community.pk))
    assert site.listed() == ["hidden", "own"]
    assert site.counted() == 4
    hide_here(community_id=site.community.pk, message_id=hidden.pk, by=site.owner)
    assert set(map(tuple, everything_shown(site).values())) == {("own",)}
    assert [site.listed(parentId=post.pk) for post in (hidden, reply)] == [[], []]
    assert Api().get(f"/api/messages/{deep.pk}", embedId=site.embed.pk).status == 404
    assert site.counted() == 1
    # The other site is a bystander.
    assert (elsewhere.listed(), elsewhere.listed(parentId=hidden.pk), elsewhere.counted()) == (
        ["hidden", "own"],
        ["reply"],
        4,
    )
    show_here(community_id=site.community.pk, message_id=hidden.pk, by=site.owner)
    assert (site.listed(), site.counted()) == (["hidden", "own"], 4)


def test_an_embed_of_everyone_leaves_out_what_a_banned_account_wrote_after_the_ban(open_site: Site) -> None:
    site, person, bystander = open_site, PersonFactory(), PersonFactory()
    agent = agent_with_token(requester=person)
    site.post(person, "before")
    ban_account(community_id=site.community.pk, account_id=person.pk, by=site.owner)
    banned = site.post(person, "banned")
    site.post(bystander, "reply", parentId=str(banned.pk))
    body = {"pageId": site.page.pk, "content": f"agent's {WORD}"}
    assert agent.api.post("/api/messages", body).status == 201
    site.post(bystander, "nobody's")
    assert site.listed() == ["before", "nobody's"]
    assert site.listed(parentId=banned.pk) == []
    assert site.streamed(page_id=site.page.pk) == ["before", "nobody's", "reply"]
    assert site.counted() == 3
    lift_ban(community_id=site.community.pk, account_id=person.pk, by=site.owner)
    assert site.listed() == ["agent's", "banned", "before", "nobody's"]


def test_an_embed_of_everyone_leaves_out_what_a_banned_account_edited_after_the_ban(open_site: Site) -> None:
    site, person = open_site, PersonFactory()
    earlier, edited = site.post(person, "stays"), site.post(person, "edited")
    site.post(person, "reply", parentId=str(earlier.pk))
    own = site.post(site.owner, "own", communityId=str(site.community.pk), quoteId=str(edited.pk))
    ban_account(community_id=site.community.pk, account_id=person.pk, by=site.owner)
    assert site.listed() == ["edited", "own", "stays"]
    changed = Api.as_person(person).put(f"/api/messages/{edited.pk}", {"content": f"after {WORD}"})
    assert changed.status == 200
    shown = everything_shown(site)
    assert not any("after" in found for found in shown.values()), shown
    assert Api().get(f"/api/messages/{edited.pk}", embedId=site.embed.pk).error == "message_not_found"
    assert site.ask(f"/api/messages/{own.pk}")["quote"] is None
    assert (site.listed(), site.listed(parentId=earlier.pk), site.counted()) == (["own", "stays"], ["reply"], 3)
    lift_ban(community_id=site.community.pk, account_id=person.pk, by=site.owner)
    assert site.listed() == ["after", "own", "stays"]


def test_search_of_an_embed_of_everyone_finds_its_community_and_its_hosts(open_site: Site) -> None:
    site, stranger = open_site, PersonFactory()
    other: Page = PageFactory(url="https://elsewhere.example/")
    site.post(stranger, "nobody's")
    MessageFactory(page=other, content=f"foreign {WORD}")
    MessageFactory(page=other, community=site.community, content=f"own {WORD}")
    found = names(site.ask("/v1/search", q=WORD)["messages"])
    assert found == ["nobody's", "own"]
    update_embed(embed_id=site.embed.pk, owner=site.owner, domain_whitelist=["*.example"])
    assert names(site.ask("/v1/search", q=WORD)["messages"]) == ["foreign", "nobody's", "own"]


def test_what_a_banned_account_wrote_after_the_ban_stays_out_when_it_is_erased(open_site: Site) -> None:
    site, person, bystander, elsewhere = open_site, PersonFactory(), PersonFactory(), Site("everyone")
    agent = agent_with_token(requester=person)
    site.post(person, "before")
    ban_account(community_id=site.community.pk, account_id=person.pk, by=site.owner)
    ban_account(community_id=elsewhere.community.pk, account_id=bystander.pk, by=elsewhere.owner)
    site.post(person, "banned")
    assert agent.api.post("/api/messages", {"pageId": site.page.pk, "content": f"agent's {WORD}"}).status == 201
    site.post(bystander, "nobody's")
    before = site.listed(), elsewhere.listed()
    assert before == (["before", "nobody's"], ["agent's", "banned", "before"])
    request_erasure(person=person, posts=PostsChoice.ANONYMOUS, by=person, wait=timedelta())
    assert run_due("erasures") == 1
    assert not Message.objects.filter(author=person).exists()
    assert (site.listed(), elsewhere.listed()) == before
    assert site.counted() == 2


@pytest.mark.parametrize(
    ("entry", "url", "is_found"),
    [
        ("my_site.example", "https://my_site.example/", True),
        ("*.my_site.example", "https://blog.my_site.example/", True),
        ("*.my_site.example", "https://blog.my-site.example/", False),
        ("*.blog.example", "https://www.blog.example/", True),
        ("*.blog.example", "https://a.b.blog.example/", True),
        ("*.blog.example", "https://otherblog.example/", False),
        ("*.blog.example:8443", "https://www.blog.example:8443/", True),
        ("*.blog.example:8443", "https://a.blog.example/", False),
        ("blog.example:443", "https://blog.example/", True),
        ("www.blog.example:80", "https://blog.example/", True),
        ("blog.example:8443", "https://blog.example/", False),
        ("blog.example", "https://blog.example:8443/", True),
        ("www.blog.example", "https://blog.example:8443/", True),
        ("[::1]", "http://[::1]:8000/", True),
        ("[::1]:8000", "http://[::1]:8000/", True),
        ("[::1]:8001", "http://[::1]:8000/", False),
    ],
)
def test_the_hosts_of_a_search_are_those_that_the_whitelist_names(
    open_site: Site, entry: str, url: str, is_found: bool
) -> None:
    """The words of embeds and imports compare hosts alike (`embeds.host_proofs.is_named`)."""
    site = open_site
    MessageFactory(page=PageFactory(url=url), content=f"foreign {WORD}")
    MessageFactory(page=PageFactory(url="https://bystander.example/"), content=f"other's {WORD}")
    update_embed(embed_id=site.embed.pk, owner=site.owner, domain_whitelist=[entry])
    assert is_named(host_of_url(normalize(url).normalized_url), [entry]) is is_found
    assert names(site.ask("/v1/search", q=WORD)["messages"]) == ["foreign"] * is_found


def test_what_an_embed_shows_follows_its_owner_at_once(community_site: Site) -> None:
    site = community_site
    site.post(PersonFactory(), "nobody's")
    assert site.listed() == []
    path = f"/api/embeds/instances/{site.embed.pk}"
    api = Api.as_signed_in(site.owner)
    refused = api.put(path, {"shows": "all"})
    assert (refused.status, refused.refusal["field"]) == (400, "shows")
    changed = api.put(path, {"shows": "everyone"})
    assert (changed.status, changed.json["shows"], site.listed()) == (200, "everyone", ["nobody's"])
    assert api.put(path, {"shows": "community"}).json["shows"] == "community"
    assert site.listed() == []


@pytest.mark.parametrize("sort", ["newest", "oldest", "reactions"])
def test_pinned_posts_are_first_on_the_first_page_in_every_order(community_site: Site, sort: str) -> None:
    site, other = community_site, Site("community")
    posts = [site.post(site.owner, f"own{n}", communityId=str(site.community.pk)) for n in range(6)]
    site.post(site.owner, "reply", parentId=str(posts[2].pk))
    elsewhere = other.post(other.owner, "other", communityId=str(other.community.pk))
    pin_message(message_id=elsewhere.pk, by=other.owner)
    before = [message["id"] for message in site.ask("/api/messages", pageId=site.page.pk, sort=sort)["messages"]]
    for post in (posts[4], posts[2]):
        pin_message(message_id=post.pk, by=site.owner)
    first = [str(posts[2].pk), str(posts[4].pk)]
    expected = [*first, *(message_id for message_id in before if message_id not in first)]
    for limit in (3, 4, 100):
        found: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while not found or cursor:
            page = site.ask(
                "/api/messages", pageId=site.page.pk, sort=sort, limit=limit, includeTopReply="true", **cursor
            )
            assert len(page["messages"]) <= limit
            found += page["messages"]
            cursor = {"cursor": page["nextCursor"]} if page["hasMore"] else {}
        assert [message["id"] for message in found] == expected, limit
        assert [message["id"] for message in found if message["pinned"]] == first
        assert found[0]["topReply"]["content"].startswith("reply")
    # A page of one post has no room for them.
    alone = site.ask("/api/messages", pageId=site.page.pk, sort=sort, limit=1)["messages"]
    assert [message["id"] for message in alone] == before[:1]
    # A filter and other readers leave them where they are.
    filtered = site.ask("/api/messages", pageId=site.page.pk, sort=sort, authorKind="human")["messages"]
    assert [message["id"] for message in filtered] == before
    plain = Api().get("/api/messages", pageId=site.page.pk).json["messages"]
    assert all("pinned" not in message for message in plain)
    hide_message(message_id=posts[2].pk, by=site.owner)
    shown = site.ask("/api/messages", pageId=site.page.pk, sort=sort)["messages"]
    assert [message["id"] for message in shown if message["pinned"]] == [str(posts[4].pk)]
    unpin_message(message_id=posts[4].pk, by=site.owner)
    assert not any(message["pinned"] for message in site.ask("/api/messages", pageId=site.page.pk)["messages"])


@pytest.mark.parametrize("sort", ["newest", "oldest", "reactions"])
def test_a_post_that_is_pinned_between_two_pages_is_not_listed_and_one_that_is_unpinned_again(
    community_site: Site, sort: str
) -> None:
    site = community_site
    posts = [site.post(site.owner, f"own{n}", communityId=str(site.community.pk)) for n in range(6)]
    query = {"pageId": site.page.pk, "sort": sort, "limit": 3}
    *others, fourth, last = posts[::-1] if sort != "oldest" else posts
    pin_message(message_id=last.pk, by=site.owner)
    first = site.ask("/api/messages", **query)
    unpin_message(message_id=last.pk, by=site.owner)
    pin_message(message_id=fourth.pk, by=site.owner)
    rest = site.ask("/api/messages", **query, cursor=first["nextCursor"])
    listed = [message["id"] for message in (*first["messages"], *rest["messages"])]
    assert listed == [str(post.pk) for post in (last, *others, last)]


READS: dict[str, Callable[[Site], dict[str, Any]]] = {
    "/api/messages": lambda site: {"pageId": site.page.pk},
    "/v1/search": lambda _site: {"q": WORD},
    "/v1/changes": lambda _site: {},
    "/v1/changes/stream": lambda _site: {},
    "/v1/presence/participants": lambda site: {"pageId": site.page.pk},
    "page.json": lambda _site: {},
    "page.atom": lambda _site: {},
    "message": lambda _site: {},
}


@pytest.mark.parametrize("read", READS)
def test_an_embed_that_is_unknown_deleted_or_paused_shows_nothing(community_site: Site, read: str) -> None:
    site, bystander = community_site, an_embed()
    post = site.post(site.owner, "own", communityId=str(site.community.pk))
    feed = f"/feeds/pages/{site.page.pk}.{read[5:]}"
    path = {"message": f"/api/messages/{post.pk}"}.get(read, feed if read.startswith("page.") else read)
    query = READS[read](site)

    def error(embed_id: Any) -> Any:
        answer = Api().get(path, embedId=embed_id, **query)
        return answer.error if answer.status >= 400 else answer.status

    assert error("x") == "invalid_input"
    assert error(UNKNOWN_ID) == "embed_not_found"
    update_embed(embed_id=site.embed.pk, owner=site.owner, status="paused")
    assert error(site.embed.pk) == "embed_not_active"
    delete_embed(embed_id=site.embed.pk, owner=site.owner)
    assert error(site.embed.pk) == "embed_not_found"
    if read not in ("message", "/v1/changes/stream"):
        assert error(bystander.pk) == 200


def test_an_open_stream_of_an_embed_that_was_paused_sends_nothing(community_site: Site) -> None:
    site = community_site
    site.post(site.owner, "own", communityId=str(site.community.pk))
    query = {"embed_id": site.embed.pk, "page_id": site.page.pk}
    channel, items = channel_of(query), items_of(site.embed.pk, of_page=True)
    rows = reading.read(channel, None, limit=10).rows
    assert len(rows) == 1
    update_embed(embed_id=site.embed.pk, owner=site.owner, status="paused")
    assert render({Source(items, channel, "test"): rows}, 0).chunks == {}


def test_streams_of_an_embed_are_loaded_and_rendered_once(community_site: Site) -> None:
    site, other = community_site, Site("community")
    post = site.post(site.owner, "own", communityId=str(site.community.pk))

    def source(embed_id: Any) -> Source:
        query = {"embed_id": embed_id, "page_id": site.page.pk}
        return Source(items_of(embed_id, of_page=True), channel_of(query), "test")

    rows = reading.read(source(site.embed.pk).channel, None, limit=10).rows
    assert [row.message_id for row in rows] == [post.pk]
    streams = {source(site.embed.pk): rows for _ in range(3)}
    with CaptureQueriesContext(connection) as queries:
        assert len(render(streams, 0).chunks) == 1
    assert sum("messaging_page page" in query["sql"] for query in queries) == 1
    # An embed on the same page shows something else.
    assert source(other.embed.pk) not in streams


def test_a_long_page_of_others_hides_no_post_of_the_community(
    community_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strangers may write more posts than a filter searches at a time."""
    monkeypatch.setattr("messaging.posts.lists.SCAN_MAX", 3)
    site = community_site
    site.post(site.owner, "own", communityId=str(site.community.pk))
    for _ in range(8):
        site.post(PersonFactory(), "nobody's")
    for sort in ("newest", "oldest", "reactions"):
        page = site.ask("/api/messages", pageId=site.page.pk, sort=sort)
        assert (names(page["messages"]), page["hasMore"]) == (["own"], False)


def test_what_an_embed_shows_is_read_once(community_site: Site) -> None:
    site = community_site
    site.post(site.owner, "own", communityId=str(site.community.pk))

    def statements(**query: Any) -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert Api().get("/api/messages", pageId=site.page.pk, limit=7, **query).status == 200
        return len(queries)

    assert [statements(embedId=site.embed.pk) - statements() for _ in range(2)] == [1, 0]
    update_embed(embed_id=site.embed.pk, owner=site.owner, shows="everyone")
    assert [statements(embedId=site.embed.pk) - statements() for _ in range(2)] == [1, 0]
