"""A post of invisible characters is empty: a reader would see a card with nothing in it."""

from __future__ import annotations

import pytest

from messaging.accounts.names import is_visible_text
from messaging.models import Message
from tests.api import Api
from tests.factories import MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/api/messages"
INVISIBLE = [
    "\u200b",
    "\u2800",
    "\u00ad\u00ad",
    "\u3164",
    "\ufe0f",
    "\u0301",
    "\u200d\u200d \n",
    "\u115f\u1160",
    "\u202e\u2066",
    "\U000e0041\U000e007f",
    "\u00a0\u3000\u2028",
    "\ufffc\U0001d159",
]
VISIBLE = ["a", "é", "e\u0301", "👍", "1️⃣", "🇩🇪", "—", "\u200b.", "한", "क्", "ا", "\u0e01\u0e33", "$", "©\ufe0f"]


@pytest.mark.parametrize("content", INVISIBLE, ids=ascii)
def test_a_post_of_invisible_characters_is_refused_and_an_edit_to_them_as_well(content: str) -> None:
    author = PersonFactory()
    api, post = Api.as_person(author), MessageFactory(author=author, content="Before")
    body = {"pageId": post.page_id, "content": content}
    for path in (PATH, f"{PATH}?dryRun=true"):
        answer = api.post(path, body)
        assert (answer.status, answer.error) == (400, "empty_message")
    answer = api.send("PUT", f"{PATH}/{post.pk}", {"content": content})
    assert (answer.status, answer.error) == (400, "empty_message")
    assert Message.objects.get().content == "Before"


def test_beside_something_else_to_show_it_is_stored() -> None:
    body = {
        "pageId": PageFactory().pk,
        "content": "\u200b",
        "attachments": [{"type": "link", "url": "https://a.example/"}],
    }
    assert Api.as_person(PersonFactory()).post(PATH, body).status == 201


@pytest.mark.parametrize("content", VISIBLE, ids=ascii)
def test_one_visible_character_is_a_post(content: str) -> None:
    answer = Api.as_person(PersonFactory()).post(PATH, {"pageId": PageFactory().pk, "content": content})
    assert (answer.status, answer.json["content"]) == (201, content)


@pytest.mark.parametrize("text", ["", " ", *INVISIBLE], ids=ascii)
def test_invisible_text_is_recognised(text: str) -> None:
    assert not is_visible_text(text)
