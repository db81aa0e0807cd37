"""The text of a post is HTML in both formats, and no text breaks a document."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from uuid import UUID
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging.feeds.feed import FORBIDDEN, PAGES, Feed, feed_of_community, feed_of_page, to_atom, to_json_feed
from messaging.feeds.queries import POSTS_MAX, FeedPost
from messaging.markdown.html import to_html
from messaging.models.message import CONTENT_MAX
from messaging.pages.page_ids import URL_MAX
from messaging.posts.message_sizes import PAGE_BYTES
from tests.feeds import reading

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
ID = UUID("0199f000-0000-7000-8000-000000000000")
URL = "https://example.com/a?b=1&c=2"
# Text that PostgreSQL can store: no NUL and no surrogates.
TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
HOSTILE = [
    "<script>alert(1)</script>",
    "]]></content></entry></feed>",
    "<![CDATA[x",
    "&lt;b&gt; &amp; &#0; &nbsp; &x;",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "<?xml-stylesheet href='x'?>",
    "-->\"'><x xmlns='y'>",
]


def post_with(content: str, *, author: str = "Ada", is_reply: bool = False, page_url: str = URL) -> FeedPost:
    return FeedPost(ID, content, is_reply, NOW, NOW, author, page_url)


def feed_with(*posts: FeedPost) -> Feed:
    return feed_of_page("p1_" + "a" * 32, URL, posts)


def as_parsed(text: str) -> str:
    """The text that an XML parser returns: forbidden characters are replaced, line ends are normalised."""
    return FORBIDDEN.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")


@given(content=TEXTS, author=TEXTS.filter(bool), name=TEXTS.filter(bool))
def test_both_formats_return_any_text(content: str, author: str, name: str) -> None:
    feed = feed_of_community(ID, "readers", name, [post_with(content, author=author)])
    atom, json = reading.read_atom(to_atom(feed)), reading.read_json(to_json_feed(feed))
    (in_atom,), (in_json,) = atom.items, json.items
    html = to_html(content)
    assert (json.title, in_json.html, in_json.author) == (name, html, author)
    assert (atom.title, in_atom.html, in_atom.author) == tuple(map(as_parsed, (name, html, author)))
    assert in_atom.title == as_parsed(in_json.title)


def test_markup_is_text() -> None:
    for text in HOSTILE:
        feed = feed_with(post_with(text, author=text))
        items = *reading.read_atom(to_atom(feed)).items, *reading.read_json(to_json_feed(feed)).items
        assert [(item.text, item.title, item.author) for item in items] == [(text, text, text)] * 2


def test_control_characters_and_noncharacters_do_not_break_a_document() -> None:
    for code in (*range(1, 32), 0x7F, 0x85, 0x2028, 0xFFFD, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF):
        text = f"a{chr(code)}b"
        (item,) = reading.read_atom(to_atom(feed_with(post_with(text)))).items
        assert (item.text, len(item.text)) == (as_parsed(text), 3), hex(code)


def test_an_entity_of_an_external_file_is_not_declared() -> None:
    document = to_atom(feed_with(*map(post_with, HOSTILE)))
    assert b"<!" not in document
    assert document.count(b"<?") == 1
    assert ElementTree.fromstring(document) is not None


def test_the_title_is_the_beginning_of_the_text_or_names_the_author() -> None:
    for content, title in (
        ("Short", "Short"),
        (" One\n\n two\tthree ", "One two three"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        ("word " * 30, "word " * 15 + "word…"),
        ("", "Post by Ada"),
    ):
        assert [item.title for item in reading.read_atom(to_atom(feed_with(post_with(content)))).items] == [title]
    reply = feed_with(post_with(" \n ", is_reply=True))
    assert [item.title for item in reading.read_atom(to_atom(reply)).items] == ["Reply by Ada"]


# A tenth of the longest text, and short ones, in characters that are longer in a document.
@pytest.mark.parametrize(
    ("character", "length"),
    [
        *product(["x", "<", "&", '"', "\x01", "é", "💩"], [100, CONTENT_MAX // 10]),
        ("x", CONTENT_MAX),
        ("💩", CONTENT_MAX),
    ],
    ids=ascii,
)
def test_a_feed_fits_the_size_limit(character: str, length: int) -> None:
    longest_url = "https://example.com/?" + "&" * (URL_MAX - 21)
    posts = [post_with(character * length, author=character * 60, page_url=longest_url)] * POSTS_MAX
    feed = feed_of_page("p1_" + "a" * 32, longest_url, posts)
    documents = to_atom(feed), to_json_feed(feed)
    assert max(map(len, documents)) <= PAGE_BYTES
    assert len(feed.entries) == POSTS_MAX or sum(map(len, documents)) > PAGE_BYTES
    assert len(reading.read_atom(documents[0]).items) == len(reading.read_json(documents[1]).items) >= 7


def test_the_namespace_of_page_ids_is_constant() -> None:
    """Another one would change the id of every feed, and readers would show all posts again."""
    assert str(PAGES) == "0d3b5b5e-6a0f-4c0e-9a53-6d2f2f2a1c55"
    assert feed_with().id == "urn:uuid:e08bf4e0-94cc-54ec-a1c3-701cb37809dd"
