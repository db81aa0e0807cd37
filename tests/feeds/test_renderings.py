"""What costs much to render is stored when it is first read, and is gone with its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from messaging.feeds import renderings
from messaging.feeds.renderings import STORED_FROM, Source, render_texts
from messaging.markdown import html
from messaging.markdown.html import UNITS_MAX, cost_of
from messaging.models import Message, Rendering
from tests.agents.racing import race
from tests.api import Api
from tests.factories import MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
# Two of these are more than one response renders.
DEAR = "1. *a*\n" * (UNITS_MAX // 60)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are parsed from now on, also if this process has parsed them before."""
    texts: list[str] = []
    parse: Callable[[str], Any] = html.parse

    def noted(text: str) -> Any:
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(html, "parse", noted)
    return texts


def read(post: Message, path: str = "/feeds/pages/{page}.atom") -> str:
    """A page of the post as a new process would answer."""
    html.rendered.cache_clear()
    answer = Api().get(path.format(page=post.page_id, post=post.pk))
    assert answer.status == 200
    return answer.body.decode()


def stored(*posts: Message) -> list[int]:
    return [Rendering.objects.filter(message_id=post.pk).count() for post in posts]


@pytest.mark.parametrize("path", ["/feeds/pages/{page}.json", "/p/{post}"])
def test_a_dear_text_is_parsed_by_its_first_reader_alone(path: str, parsed: list[str]) -> None:
    post, cheap = MessageFactory(content=DEAR[:3_000]), "*b*"
    MessageFactory(parent=post, content=cheap)
    first = read(post)
    assert sorted(parsed) == [cheap, post.content]
    assert "<em>a</em>" in read(post, path)
    assert read(post) == first
    assert sorted(parsed) == [cheap, cheap, cheap, post.content]


def test_later_readers_render_what_was_too_much_for_the_first(parsed: list[str]) -> None:
    page = PageFactory()
    posts = [MessageFactory(page=page, content=f"{number}\n\n{DEAR}") for number in range(3)]
    assert STORED_FROM < cost_of(DEAR) <= UNITS_MAX < 2 * cost_of(DEAR)
    for readers in (1, 2, 3, 4):
        assert read(posts[0]).count("&lt;/ol&gt;") == min(readers, 3)
    assert len(parsed) == 3
    assert all("</ol>" in read(post, "/p/{post}") for post in posts)
    assert len(parsed) == 3


@pytest.mark.parametrize("change", ["edit", "delete", "erase", "remove"])
def test_a_rendering_goes_with_its_text(change: str) -> None:
    post, other = MessageFactory(content=DEAR), MessageFactory(content=DEAR)
    for each in (post, other):
        read(each)
    assert stored(post, other) == [1, 1]
    path, author = f"/api/messages/{post.pk}", Api.as_person(post.author)
    if change == "edit":
        assert author.put(path, {"content": "> new\n" * 100}).status == 200
    elif change == "delete":
        assert author.delete(path).status == 200
    elif change == "erase":
        Message.objects.filter(pk=post.pk).update(content="")
    else:
        post.delete()
    assert stored(post, other) == [0, 1]
    assert "<em>" not in read(post).replace("&lt;", "<")
    assert stored(post, other) == [int(change == "edit"), 1]


def test_changes_of_other_columns_keep_it() -> None:
    post = MessageFactory(content=DEAR)
    read(post)
    Message.objects.filter(pk=post.pk).update(reply_count=1, content=DEAR)
    assert stored(post) == [1]


def test_another_renderer_renders_again_and_replaces_the_row(
    monkeypatch: pytest.MonkeyPatch, parsed: list[str]
) -> None:
    post, other = MessageFactory(content=DEAR), MessageFactory(content=DEAR)
    for each in (post, other):
        read(each)
    monkeypatch.setattr(renderings, "renderer", lambda: -1)
    for _ in range(2):
        read(post)
    assert len(parsed) == 3
    assert stored(post, other) == [1, 1]
    assert Rendering.objects.get(renderer=-1).message_id == post.pk


def test_what_cannot_be_stored_is_shown() -> None:
    post = MessageFactory(content=DEAR)
    with connection.cursor() as cursor:
        # As on a primary that has just become a standby.
        cursor.execute("SET LOCAL transaction_read_only = on")
    assert "&lt;em&gt;a" in read(post)


def test_a_text_that_has_changed_since_it_was_read_is_not_stored() -> None:
    post = MessageFactory(content="*new*")
    assert "<em>" in render_texts([Source(post.pk, DEAR, DEAR)]).popitem()[1].html
    assert stored(post) == [0]


@pytest.mark.django_db(transaction=True)
def test_no_rendering_is_left_of_a_text_that_is_replaced_meanwhile() -> None:
    post = MessageFactory(content=DEAR, author=PersonFactory())
    author = Api.as_person(post.author)

    def use(number: int) -> int:
        if number % 2:
            return author.put(f"/api/messages/{post.pk}", {"content": f"edit {number}"}).status
        render_texts([Source(post.pk, DEAR, DEAR)])
        return 200

    read(post)
    assert race(8, use) == [200] * 8
    assert stored(post) == [0]
