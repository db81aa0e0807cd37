"""searchMessages: words, order, scope, paging and what is not found."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from messaging.models import Message, MessageStatus, Page
from messaging.moderation.services import approve_message, hide_message, restore_message
from messaging.pages.moving import move_page
from messaging.search.queries import IGNORED_MARKS, UNSPACED_LETTER, UNSPACED_MARKS
from messaging.word_lists.characters import UNSPACED
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of
from tests.messaging.walking import ids_of

pytestmark = pytest.mark.django_db
PATH = "/v1/search"
MORE_SCRIPTS = import_module("messaging.migrations.0057_search_in_more_scripts")
START = datetime(2026, 11, 1, tzinfo=UTC)


def found(q: str, **query: Any) -> list[str]:
    answer = Api().get(PATH, q=q, **query)
    assert answer.status == 200, answer.json
    return [message["id"] for message in answer.json["messages"]]


def finds(content: str, q: str, **fields: Any) -> bool:
    return str(MessageFactory(content=content, **fields).pk) in found(q)


FOUND = [
    *[("The harbour light", q) for q in ("harbour", "LIGHT harbour")],
    *[("foo-bar and/or https://example.org/path?x=1", q) for q in ("bar", "example")],
    *[("one two three", q) for q in ('"two three"', "two or absent", "one -four")],
    *[("Straße und ÉCOLE", "ecole straße"), ("cafe", "café"), ("Привет, МИР", "привет мир"), ("foo bar", "foo-bar")],
    *[
        ("it “quoted—this”", "quoted"),
        ("don't", "don’t"),
        ("東京タワーは高い。", "タワー"),
        ("ﾊﾝｶｸ ＦＵＬＬ", "ハンカク full"),
    ],
    *[
        ("مرحبا، كيف الحال؟", "الحال"),
        ("한국어 텍스트", "텍스트"),
        ("well done👍", "👍 done"),
        ("snake_case name", "case"),
    ],
    *[("<b>bold</b> & <i>more", "bold"), ("version 3.14", "14")],
    *[
        ("번역을 부탁해 주세요", q)
        for q in ("번역", "번역 부탁", '"번역을 부탁해"', "\u1107\u1165\u11ab역", "번 -요세")
    ],
    *[("ภาษาไทยสวยงามมาก น้ำ", q) for q in ("ภาษา", "ไทย งาม", "น้ำ")],
    *[("ພາສາລາວ", "ລາວ"), ("ភាសាខ្មែរ", "ខ្មែរ"), ("မြန်မာဘာသာ", "ဘာသာ"), ("casinoです", "casino")],
    *[("مُحَمَّد كتب", q) for q in ("محمد", "مُحَمَّد", "محمـــد")],
    *[("שָׁלוֹם", "שלום"), ("أحمد", "احمد"), ("Straße und Fußball", "STRASSE fussball"), ("ΟΔΟΣ", "οδός")],
    *[("don’t stop", q) for q in ("dont", "don't", "don’t stop", '"don\'t stop"', "dont stop")],
    *[("don't stop", "dont"), ("l’école", "école"), ("l’école", "lecole"), ("dont", "dont"), ("天気がいい", "天")],
    *[("東京 京都", '"東京" 京都'), ("京都", "東京 or 京都"), ("東京都", "都 -大阪"), ("名古屋", '名古屋"')],
]
NOT_FOUND = [
    *[("one two three", q) for q in ("four", "one four", '"three two"', "one -two")],
    *[("specialist", "special"), ("anything", "!?"), ("anything", "--"), ("anything", '""')],
    *[("京の東", "東京"), ("시도 수박", "도박"), ("งาม", "มงา"), ("東京", "-東京 a"), ("東京タワー", '"東京" -タワー')],
    *[("हिन्दी", "हन्दी"), ("don t", "dont"), ("Strae", "strasse")],
]


@pytest.mark.parametrize("part", range(3))
def test_a_post_is_found_by_its_words_alone(part: int) -> None:
    assert [(content, q) for content, q in FOUND[part::3] if not finds(content, q)] == []
    assert [(content, q) for content, q in NOT_FOUND[part::3] if finds(content, q)] == []


def test_one_character_is_a_word_in_scripts_without_spaces_alone() -> None:
    post = str(MessageFactory(content="今日は天気、책ok").pk)
    assert found("天") == found(" 책 ") == found("今") == [post]
    for q in ("o", "é", "ह", "、", "!", "\u0e34"):
        answer = Api().get(PATH, q=q)
        assert (answer.status, answer.json["field"]) == (400, "q"), q


def test_search_knows_the_same_letters_in_each_python_and_in_the_database() -> None:
    """The tables of Python have new characters in each version: the mark U+0ECE since 3.12."""
    assert (MORE_SCRIPTS.UNSPACED, MORE_SCRIPTS.MARKS) == (UNSPACED, UNSPACED_MARKS)
    in_blocks = "".join(chr(code) for code in range(0x20000) if re.match(f"[{UNSPACED}]", chr(code)))
    letters = set(re.findall(UNSPACED_LETTER, " ".join(in_blocks)))
    marks = {each for each in in_blocks if unicodedata.category(each) in {"Mn", "Mc"}}
    assert marks - set(re.findall(f"[{UNSPACED_MARKS}{IGNORED_MARKS}]", in_blocks)) <= {"\u0ece"}
    unassigned = {each for each in in_blocks if unicodedata.category(each) == "Cn"}
    assert letters - unassigned - {"\u0ece"} == set(re.findall(r"[^\W_]", in_blocks))


def test_texts_of_a_payload_are_found_and_its_names_are_not() -> None:
    payload = {"statement": "Lamps were lit", "sources": [{"title": "A ledger"}], "year": 1871}
    post = str(MessageFactory(content="", tag_type="claim", payload=payload).pk)
    assert found("lamps") == found("ledger") == [post]
    assert found("statement") == found("1871") == []


def test_the_answer_is_a_list_of_messages() -> None:
    post = MessageFactory(content="A lighthouse")
    body = Api().get(PATH, q="lighthouse").json
    assert body == {"messages": [Api().get(f"/api/messages/{post.pk}").json], "hasMore": False, "nextCursor": None}


def test_more_occurrences_rank_first_and_newest_of_equal_rank() -> None:
    page = PageFactory()
    texts = ["light house", "light light house house", "light house", "light light house"]
    posts = [
        MessageFactory(page=page, content=text, created_at=START + timedelta(minutes=n)) for n, text in enumerate(texts)
    ]
    for q in ("light house", "light or house", '"light house"', "light house -far"):
        assert found(q) == [str(posts[place].pk) for place in (1, 3, 2, 0)], q


def test_a_scope_limits_the_search() -> None:
    community, page = CommunityFactory(), PageFactory()
    both = str(MessageFactory(content="light", page=page, community=community).pk)
    on_page = str(MessageFactory(content="light", page=page).pk)
    elsewhere = str(MessageFactory(content="light", community=community).pk)
    reply = str(MessageFactory(content="light", parent=MessageFactory(page=page)).pk)
    assert set(found("light")) == {both, on_page, elsewhere, reply}
    assert set(found("light", pageId=page.pk)) == {both, on_page, reply}
    assert set(found("light", communityId=community.pk)) == {both, elsewhere}
    assert found("light", pageId=page.pk, communityId=community.pk) == [both]
    assert found("light", communityId=uuid4()) == found("light", pageId="p1_" + "a" * 32) == []


def test_posts_are_found_by_the_old_and_the_new_id_of_a_page_that_moved() -> None:
    old = Page.objects.create(id="p1_" + "a" * 32, normalized_url="https://example.com/a?PHPSESSID=1")
    post = MessageFactory(page=old, content="light")
    move_page(old)
    post.refresh_from_db()
    assert found("light", pageId=old.pk) == found("light", pageId=post.page_id) == [str(post.pk)]


def test_only_published_posts_are_found() -> None:
    shown, *_hidden = [MessageFactory(content="light", status=status) for status in sorted(MessageStatus)[::-1]]
    assert found("light") == [str(shown.pk)]


def test_a_reply_in_a_thread_that_is_not_public_is_not_found() -> None:
    top = MessageFactory(content="top")
    reply = MessageFactory(parent=MessageFactory(parent=top), content="light")
    for status, shown in (("pending", []), ("published", [str(reply.pk)]), ("hidden", [])):
        Message.objects.filter(pk=top.pk).update(status=status)
        assert found("light") == shown


def test_a_reply_to_a_deleted_post_is_found() -> None:
    top = MessageFactory()
    reply = MessageFactory(parent=top, content="light")
    Message.objects.filter(pk=top.pk).update(status=MessageStatus.DELETED, content="")
    assert found("light") == [str(reply.pk)]


def test_what_moderators_do_is_visible_at_once() -> None:
    admin, author = SuperAdminFactory(), PersonFactory()
    post = MessageFactory(content="light", author=author, status=MessageStatus.PENDING)
    approve_message(message_id=post.pk, by=admin)
    assert found("light") == [str(post.pk)]
    hide_message(message_id=post.pk, by=admin)
    assert found("light") == []
    restore_message(message_id=post.pk, by=admin)
    hide_posts_of(author=author, by=admin)
    assert found("light") == []
    restore_posts_of(author=author, by=admin)
    assert found("light") == [str(post.pk)]


def test_a_changed_text_is_found_by_its_new_words_only() -> None:
    post = MessageFactory(content="light")
    Message.objects.filter(pk=post.pk).update(content="dark")
    assert (found("light"), found("dark")) == ([], [str(post.pk)])


def test_a_post_is_found_by_the_next_request() -> None:
    api, page = agent_with_token().api, PageFactory()
    assert found("lighthouse") == []
    created = api.post("/api/messages", {"pageId": page.pk, "content": "A lighthouse"}).json
    answer = Api().get(PATH, q="lighthouse")
    assert answer.json["messages"] == [created]
    assert answer.headers["Cache-Control"] == "public, no-cache"
    assert Api().get(PATH, q="lighthouse", headers={"If-None-Match": answer.headers["ETag"]}).status == 304


def test_cursors_list_each_match_once() -> None:
    page = PageFactory()
    expected = [
        MessageFactory(page=page, content="light " * (1 + n % 3), created_at=START + timedelta(minutes=n))
        for n in range(11)
    ]
    expected.sort(key=lambda post: (-post.content.count("light"), -post.created_at.timestamp()))
    assert ids_of(PATH, q="light", limit=3) == [str(post.pk) for post in expected]


def test_a_cursor_is_bound_to_the_search() -> None:
    page = PageFactory()
    for _ in range(2):
        MessageFactory(page=page, content="light dark")
    cursor = Api().get(PATH, q="light", limit=1).json["nextCursor"]
    for query in ({"q": "dark"}, {"q": "light", "pageId": page.pk}):
        answer = Api().get(PATH, cursor=cursor, **query)
        assert (answer.status, answer.error) == (400, "invalid_cursor")
    listed = Api().get("/api/messages", pageId=page.pk, limit=1).json["nextCursor"]
    assert Api().get(PATH, q="light", cursor=listed).error == "invalid_cursor"


def test_an_invalid_parameter_is_400_and_named() -> None:
    invalid: list[tuple[str, dict[str, Any]]] = [
        *(("q", query) for query in ({}, {"q": ""}, {"q": " a "}, {"q": "x" * 201}, {"q": "a\x00b"})),
        ("q", {"q": ["light", "dark"]}),
        *(("pageId", {"q": "light", "pageId": page}) for page in ("x", "https://example.com/")),
        *((name, {"q": "light", name: value}) for name, value in (("communityId", "x"), ("limit", "0"))),
    ]
    for field, query in invalid:
        answer = Api().get(PATH, **query)
        assert (answer.status, answer.json["field"]) == (400, field), query


@hypothesis_settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(q=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=2, max_size=200))
def test_no_query_causes_a_5xx(q: str) -> None:
    assert Api().get(PATH, q=q).status in {200, 400}


def test_operators_of_postgresql_are_text() -> None:
    for q in ("&|!():*'\\<->", '"' * 199, "-" * 200, "a:*b & c", "or or or", '"a -b" or -c', "%_%s %(x)s"):
        assert Api().get(PATH, q=q).status == 200, q


@hypothesis_settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=300))
def test_any_text_can_be_stored(content: str) -> None:
    assert MessageFactory(content=content).pk


def test_the_longest_texts_can_be_stored() -> None:
    """A tsvector has a maximum size: a character that becomes eighteen, and very many different words."""
    second = (" " if n % 3 == 0 else chr(0x10400 + n // 80 % 80) for n in range(10_000))
    letters = "".join(chr(0x10400 + n % 80) + character for n, character in enumerate(second))
    for text in ("ﷺ" * 20_000, letters, "".join(map(chr, range(0x4E00, 0x9C20)))):
        assert finds(f"light {text[:19_000]}", "light", tag_type="note", payload={"x": text[:16_000]})
