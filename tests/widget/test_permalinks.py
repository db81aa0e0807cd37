"""The page of a permalink: GET /p/{id}."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from markdown_it.token import Token

from embeds.services import trust_embed
from embeds.widget.permalinks import CONTEXT_MAX, QUOTE_MAX
from messaging.markdown import tree
from messaging.markdown.rules import tokenize
from messaging.models import Message, MessageStatus
from messaging.moderation.services import hide_message
from tests.embeds.making import an_embed
from tests.factories import (
    AgentAccountFactory,
    CommunityFactory,
    MessageFactory,
    PageFactory,
    PersonFactory,
    SuperAdminFactory,
)

pytestmark = pytest.mark.django_db
HOSTILE = "\"><script>alert(1)</script>'&amp;<img src=x onerror=alert(2)>"


class Document(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def metas(self) -> dict[str | None, str | None]:
        return {meta.get("property") or meta.get("name"): meta.get("content") for meta in self.of("meta")}

    @property
    def articles(self) -> list[str | None]:
        return [article.get("id") for article in self.of("article")]


def trusted_post(url: str = "https://example.com/a", **fields: Any) -> Message:
    """A post on a page whose host an embed of its community names, which a super admin trusts."""
    community = CommunityFactory()
    embed = an_embed(community_id=community.pk, domain_whitelist=["example.com"])
    trust_embed(embed_id=embed.pk, by=SuperAdminFactory())
    post: Message = MessageFactory(page=PageFactory(url=url), community=community, **fields)
    return post


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://localhost:8000/demo/", "http://localhost:8000/demo"),
        ("http://127.0.0.1:8000/a?b=1", "http://127.0.0.1:8000/a?b=1"),
        ("http://example.com/a", "https://example.com/a"),
        ("http://localhost.example.com/a", "https://localhost.example.com/a"),
        # No host of a whitelist, and yet one of a URL.
        ("http://a*b.example/a", "https://a*b.example/a"),
    ],
)
def test_a_page_on_the_own_machine_is_linked_without_tls(url: str, place: str) -> None:
    post = MessageFactory(page=PageFactory(url=url))
    links = [link["href"] for link in document_of(post).of("a")]
    assert links[0] == f"{place}#community-post-{post.pk}"


def get(message: Message, **options: Any) -> Any:
    return Client().get(f"/p/{message.pk}", **options)


def document_of(message: Message, **options: Any) -> Document:
    response = get(message, **options)
    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    return Document(response.content.decode())


def test_a_preview_has_title_author_and_text() -> None:
    post = MessageFactory(content="First line\n\nand more", author=PersonFactory(name="Ada Lovelace"))
    metas = document_of(post).metas
    assert metas["og:type"] == "article"
    assert metas["og:title"] == metas["og:description"] == metas["description"] == "First line and more"
    assert metas["og:url"] == f"{settings.BASE_URL}/p/{post.pk}"
    assert metas["og:site_name"] == "example.com"
    assert metas["article:author"] == metas["author"] == "Ada Lovelace"
    assert metas["robots"] == "noindex"


def test_a_long_text_is_shortened_and_a_post_without_text_is_named() -> None:
    long = document_of(MessageFactory(content="word " * 4_000)).metas
    assert (len(long["og:title"] or ""), len(long["og:description"] or "")) == (80, 300)
    claim = {"content": "", "tag_type": "claim", "payload": {"statement": "It was lit in 1871."}}
    tagged = document_of(MessageFactory(**claim, author=PersonFactory(name="Ada"))).metas
    assert (tagged["og:title"], tagged["og:description"]) == ("Post by Ada", "It was lit in 1871.")


def test_a_reader_is_taken_on_to_a_page_of_a_trusted_embed() -> None:
    post = trusted_post("https://example.com/a?x=1")
    reply = MessageFactory(parent=post, content="The reply")
    document = document_of(post)
    (script,) = document.of("script")
    assert script["data-place"] == f"https://example.com/a?x=1#community-post-{post.pk}"
    # The link leads there too, and the thread is shown: not every reader runs scripts.
    (link,) = [link for link in document.of("a") if link["href"] == script["data-place"]]
    assert link["rel"] == "noopener"
    assert document.articles == [f"community-post-{each.pk}" for each in (post, reply)]
    assert "Read it on its page · example.com" in document.text


def test_a_url_that_is_selected_by_its_fragment_stays_as_it_is() -> None:
    (script,) = document_of(trusted_post("https://example.com/app#!/story")).of("script")
    assert script["data-place"] == "https://example.com/app#!/story"


def test_the_thread_is_shown_where_nobody_vouches_for_the_page() -> None:
    page = PageFactory(url="https://example.com:8443/a")
    top = MessageFactory(page=page, content="The top")
    post = MessageFactory(parent=top, content="The post")
    replies = [MessageFactory(parent=post, content=f"Reply {n}") for n in range(3)]
    MessageFactory(parent=post, content="Hidden", status=MessageStatus.HIDDEN)
    document = document_of(post)
    assert document.articles == [f"community-post-{each.pk}" for each in (top, post, *replies)]
    assert not document.of("script")
    assert all(text in document.text for text in ("The top", "The post", "Reply 0", "Reply 2"))
    assert "Hidden" not in document.text
    place = f"{page.normalized_url}#community-post-{post.pk}"
    (link,) = [link for link in document.of("a") if link["href"] == place]
    assert link["rel"] == "noopener nofollow ugc"
    assert "Read it on its page · example.com:8443" in document.text


def test_many_replies_are_on_several_pages() -> None:
    post, author = MessageFactory(), PersonFactory()
    replies = [MessageFactory(parent=post, author=author) for _ in range(101)]
    first = document_of(post)
    (more,) = [str(link["href"]) for link in first.of("a") if str(link["href"]).startswith("?cursor=")]
    second = Document(Client().get(f"/p/{post.pk}{more}").content.decode())
    shown = [*first.articles[1:], *second.articles[1:]]
    assert shown == [f"community-post-{reply.pk}" for reply in replies]


def test_posts_around_the_linked_one_and_quotes_are_cut_before_they_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []

    def counting(text: str) -> list[Token]:
        parsed.append(len(text))
        return tokenize(text)

    monkeypatch.setattr(tree, "tokenize", counting)
    long = "word " * 3_900
    top = MessageFactory(content=f"parent {long}")
    post = MessageFactory(parent=top, content=f"linked {long}")
    reply = MessageFactory(parent=post, content=f"reply {long}", quote=top)
    document = document_of(post)
    assert sorted(parsed) == [QUOTE_MAX, CONTEXT_MAX, CONTEXT_MAX, len(post.content)]
    links = [link["href"] for link in document.of("a")]
    # Beside its date, what is cut has a link to the rest.
    assert [links.count(f"{settings.BASE_URL}/p/{each.pk}") for each in (top, post, reply)] == [2, 1, 2]


def test_a_false_cursor_shows_the_first_replies() -> None:
    reply = MessageFactory(parent=MessageFactory())
    for cursor in ("x", "", "\x00", "A" * 500):
        document = document_of(reply.parent, data={"cursor": cursor})
        assert f"community-post-{reply.pk}" in document.articles, cursor


@pytest.mark.parametrize("goes_on", [False, True])
def test_texts_of_others_are_never_markup(goes_on: bool) -> None:
    author = PersonFactory(name="Ada <b>'\"&amp;</b>")
    fields = {
        "tag_type": "note",
        "payload": {"x": HOSTILE},
        "attachments": [{"type": "x", "url": f"https://e.com/{HOSTILE}"}],
    }
    quoted = MessageFactory(content=HOSTILE, author=author)
    post = (trusted_post if goes_on else MessageFactory)(content=HOSTILE, author=author, quote=quoted, **fields)
    MessageFactory(parent=post, content=HOSTILE, author=author)
    document = document_of(post)
    assert len(document.of("script")) == goes_on
    assert not document.of("img")
    assert not document.of("b")
    assert document.text.count(HOSTILE) >= 3
    assert document.metas["og:description"] == HOSTILE.replace("\n", " ")
    assert document.metas["author"] == author.name


def test_a_post_that_is_not_public_is_404() -> None:
    page = PageFactory()
    for status in (MessageStatus.PENDING, MessageStatus.HIDDEN, MessageStatus.DELETED):
        response = get(MessageFactory(content="Not for all", status=status, page=page))
        assert (response.status_code, response.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
        assert b"Not for all" not in response.content
        assert page.normalized_url.encode() not in response.content


def test_a_post_in_a_hidden_thread_is_404_and_no_other() -> None:
    top, other = MessageFactory(), MessageFactory(parent=MessageFactory())
    post = MessageFactory(parent=MessageFactory(parent=top))
    assert get(post).status_code == 200
    hide_message(message_id=top.pk, by=SuperAdminFactory())
    assert get(post).status_code == 404
    assert get(other).status_code == 200


def test_any_other_id_is_a_404_page() -> None:
    for post_id in (uuid4(), "x", "0" * 36, "%00", "x" * 3_000, "{}"):
        response = Client().get(f"/p/{post_id}")
        assert (response.status_code, response.headers["Content-Type"]) == (404, "text/html; charset=utf-8")


def test_no_script_of_the_page_is_inline_and_nothing_else_is_loaded() -> None:
    for post in (MessageFactory(), trusted_post()):
        response = get(post)
        policy = response.headers["Content-Security-Policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        document = Document(response.content.decode())
        loaded = [str(each.get("src") or each.get("href")) for tag in ("script", "link") for each in document.of(tag)]
        assert loaded
        assert all(address.startswith("/static/") for address in loaded)
        assert not re.search(rb"\son\w+=|style=", response.content)
        assert response.headers["Cache-Control"] == "private, no-cache"


def test_the_page_is_in_the_language_of_the_reader_and_labels_agents() -> None:
    post = MessageFactory(author=AgentAccountFactory())
    MessageFactory(parent=post)
    german = get(post, headers={"Accept-Language": "de"})
    assert german.headers["Vary"] == "Accept-Language"
    assert "Auf der Seite lesen" in german.content.decode()
    assert "Agent" in document_of(post).text
    assert 'dir="rtl"' in get(post, headers={"Accept-Language": "ar"}).content.decode()


def test_other_methods_are_405_and_head_has_no_body() -> None:
    post = MessageFactory()
    assert Client().post(f"/p/{post.pk}").status_code == 405
    head = Client().head(f"/p/{post.pk}")
    assert (head.status_code, head.content) == (200, b"")


def test_it_takes_few_queries(django_assert_num_queries: Any) -> None:
    post = MessageFactory(parent=MessageFactory())
    for _ in range(12):
        MessageFactory(parent=post)
    with django_assert_num_queries(3):
        get(post)
    # Where posts of its community lead is one query more.
    for of_community in (trusted_post(), MessageFactory(community=CommunityFactory())):
        with django_assert_num_queries(3):
            get(of_community)


def test_it_has_a_throttle_of_its_own(settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"permalink": (1, 60), "read": (0, 60)}
    post = MessageFactory()
    addresses = ("198.51.100.7", "198.51.100.7", "203.0.113.7", "127.0.0.1", "127.0.0.1")
    statuses = [get(post, REMOTE_ADDR=address).status_code for address in addresses]
    assert statuses == [200, 429, 200, 200, 200]
