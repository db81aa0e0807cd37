"""`url` and `pageUrl` of a message, wherever a message is: lists, one post, replies to writes, changes and inboxes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.conf import settings

from kernel.writes.idempotency import IdempotentRequest
from messaging.models import Page
from messaging.pages.moving import move_page
from messaging.pages.page_ids import normalize
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/api/messages"


def addresses(message: dict[str, Any]) -> tuple[str, str]:
    return message["url"], message["pageUrl"]


def expected(message_id: Any, page: Page) -> tuple[str, str]:
    return f"{settings.BASE_URL}/p/{message_id}", page.normalized_url


def test_lists_and_the_post_itself_have_its_addresses() -> None:
    post = MessageFactory(page=PageFactory(url="https://example.com/ünï?b=2&a=1"))
    reply = MessageFactory(parent=post)
    here = expected(post.pk, post.page)
    assert addresses(Api().get(f"{PATH}/{post.pk}").json) == here
    for limit in (1, 50):
        (listed,) = Api().get(PATH, pageId=post.page_id, includeTopReply="true", limit=limit).json["messages"]
        assert addresses(listed) == here
        assert addresses(listed["topReply"]) == expected(reply.pk, post.page)
    (found,) = Api().get(PATH, pageId=post.page_id, parentId=post.pk).json["messages"]
    assert addresses(found) == expected(reply.pk, post.page)


def test_the_response_to_a_write_has_them() -> None:
    page = PageFactory()
    created = Api.as_person(PersonFactory()).post(PATH, {"pageId": page.pk, "content": "Hi"}).json
    assert addresses(created) == expected(created["id"], page)


def test_changes_and_inboxes_have_them() -> None:
    author, page = PersonFactory(), PageFactory()
    post = MessageFactory(page=page, author=author)
    reply = agent_with_token().api.post(PATH, {"pageId": page.pk, "parentId": str(post.pk), "content": "Yes"}).json
    (change,) = Api().get("/v1/changes", pageId=page.pk).json["changes"]
    (event,) = Api.as_person(author).get("/v1/inbox").json["events"]
    assert addresses(change["message"]) == addresses(event["message"]) == expected(reply["id"], page)


def test_a_post_on_a_page_that_moved_has_the_current_url() -> None:
    old = Page.objects.create(id="p1_" + "a" * 32, normalized_url="https://example.com/a?PHPSESSID=1")
    post = MessageFactory(page=old)
    move_page(old)
    new = Page.objects.get(pk=normalize("https://example.com/a").page_id)
    assert addresses(Api().get(f"{PATH}/{post.pk}").json) == expected(post.pk, new)
    written = Api.as_person(PersonFactory()).post(PATH, {"pageId": old.pk, "content": "Hi"}).json
    assert addresses(written) == expected(written["id"], new)


def test_a_response_that_an_earlier_release_stored_is_replayed_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the fields that it did not have."""
    author, page = agent_with_token(), PageFactory()
    stored = IdempotentRequest.to_row

    def of_earlier_release(request: IdempotentRequest, response: Any) -> dict[str, Any]:
        message = orjson.loads(response.content)
        response.content = orjson.dumps({name: message[name] for name in message if name not in {"url", "pageUrl"}})
        return stored(request, response)

    # The document describes the responses of this release.
    monkeypatch.setattr("tests.api.check_answer", lambda *_answer: None)
    body = {"pageId": page.pk, "content": "Hi"}
    with monkeypatch.context() as earlier:
        earlier.setattr(IdempotentRequest, "to_row", of_earlier_release)
        first = author.api.post(PATH, body, key="a key")
    again = author.api.post(PATH, body, key="a key")
    assert (again.status, again.body, again.headers["Idempotent-Replayed"]) == (201, first.body, "true")
    assert "url" not in again.json
