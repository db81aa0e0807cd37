"""A public read is answered by its view alone, with the responses that it would have through Django."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler

from kernel.api.chain import PublicReads
from kernel.api.operations import all_operations
from kernel.request_ids import KEY
from messaging.posts import views
from tests.cache.conftest import environ_of
from tests.config_api.example_world import ExampleWorld

pytestmark = pytest.mark.django_db(transaction=True)

# The path and the query of a success, and of a refusal if the operation has some.
READS: dict[str, tuple[Callable[[ExampleWorld], str], str]] = {
    "listMessages": (lambda world: f"/api/messages?pageId={world.post.page_id}&limit=1", "/api/messages?limit=x"),
    "getMessage": (lambda world: f"/api/messages/{world.post.pk}", "/api/messages/x"),
    "listReactions": (lambda world: f"/v1/reactions/{world.post.pk}", "/v1/reactions/x"),
    "listParticipants": (
        lambda world: f"/v1/presence/participants?pageId={world.post.page_id}",
        "/v1/presence/participants",
    ),
    "listChanges": (lambda world: f"/v1/changes?pageId={world.post.page_id}", "/v1/changes?cursor=x"),
    "getDiscussion": (
        lambda world: f"/v1/communities/{world.community.pk}/pages/{world.post.page_id}",
        "/v1/communities/x/pages/x",
    ),
    "listSmartTags": (lambda world: "/v1/smart-tags", ""),
    "getAgent": (lambda world: f"/v1/agents/{world.agent.agent.account.handle}", "/v1/agents/nobody_at_all"),
    "getEmbedClientConfig": (lambda world: "/api/embeds/client-config", ""),
    "listCommunities": (lambda world: "/v1/communities?limit=2", "/v1/communities?cursor=x"),
    "getCommunity": (lambda world: f"/v1/communities/{world.community.pk}", "/v1/communities/x"),
    "getEmbedConfig": (lambda world: f"/api/embeds/config/{world.embed.pk}", "/api/embeds/config/x"),
}
PUBLIC = {
    declared.id
    for _path, method, declared in all_operations()
    if method == "GET" and declared.revalidates and declared.throttle is None
}

# Refusals name it.
SAME_ID = {KEY: "test"}


class Reader:
    """Sends a request through the application, and says whether it entered Django."""

    def __init__(self) -> None:
        self.entered = 0
        self._handler = WSGIHandler()
        self._application = PublicReads(self._django)

    def _django(self, environ: dict[str, Any], start_response: Any) -> Any:
        self.entered += 1
        return self._handler(environ, start_response)

    def __call__(self, address: str, **environ: str) -> tuple[str, dict[str, str], bytes]:
        path, _, query = address.partition("?")
        answer: list[Any] = []
        body = self._application(environ_of(path, query) | SAME_ID | environ, lambda *start: answer.extend(start))
        status, headers = answer
        assert len(dict(headers)) == len(headers), "no header is repeated"
        return status, dict(headers), b"".join(body)


@pytest.fixture
def read() -> Reader:
    return Reader()


def test_all_public_reads_are_tried() -> None:
    assert READS.keys() == PUBLIC


@pytest.mark.parametrize("name", READS)
def test_the_view_alone_answers_as_django_does(name: str, read: Reader) -> None:
    address, wrong = READS[name][0](ExampleWorld()), READS[name][1]
    first, second = read(address), read(address)
    assert first[0] == "200 OK"
    assert second == first
    assert read.entered == 1
    etag = {"HTTP_IF_NONE_MATCH": first[1]["ETag"]}
    alone = [read(address, **etag), *([read(wrong)] if wrong else [])]
    assert read.entered == 1
    through_django = Reader(), Reader()
    sent = through_django[0](address, **etag), through_django[1](wrong)
    assert alone == list(sent[: len(alone)])
    assert [answer[0][:1] for answer in alone] == ["3", "4"][: len(alone)]


@pytest.mark.parametrize(
    "other",
    [
        {"REQUEST_METHOD": "HEAD"},
        {"HTTP_AUTHORIZATION": "Bearer x"},
        {"HTTP_HOST": "other.example"},
        {"HTTP_ACCEPT": "application/problem+json"},
    ],
)
def test_other_requests_enter_django(other: dict[str, str], read: Reader) -> None:
    address = READS["getMessage"][0](ExampleWorld())
    read(address)
    read(address, **other)
    assert read.entered == 2


def test_what_fails_enters_django(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    address = READS["getMessage"][0](ExampleWorld())
    read(address)

    def fail(*_: Any) -> None:
        raise ValueError

    monkeypatch.setattr(views, "_visible", fail)
    assert read(address)[0].startswith("500")
    assert read.entered == 2
