"""The bare application of `make bench` answers as the service does: otherwise a ratio compares nothing."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from django.db import connection

from messaging.models import Message
from reactions.models import Reaction
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import MessageFactory, PageFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    settings = connection.settings_dict
    url = f"postgresql://{settings['USER']}@/{settings['NAME']}?host={settings['HOST']}"
    monkeypatch.setenv("DATABASE_URL", url)
    module = importlib.import_module("tests.benchmarks.bare")
    yield module
    module._connection().close()
    del module._local.connection


def call(bare: Any, method: str, path: str, query: str = "", body: Any = None, **headers: str) -> tuple[str, Any]:
    status: list[str] = []
    environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, **headers}
    environ["wsgi.input"] = io.BytesIO(orjson.dumps(body))
    (answer,) = bare.application(environ, lambda line, _headers: status.append(line))
    return status[0], orjson.loads(answer)


def as_agent(agent: TokenHolder, **headers: str) -> dict[str, str]:
    return {"HTTP_AUTHORIZATION": f"Bearer {agent.value}", **headers}


def without_times(message: dict[str, Any]) -> dict[str, Any]:
    """Its times have another notation."""
    return {name: value for name, value in message.items() if name not in ("createdAt", "updatedAt")}


def test_it_reads_the_same_messages(bare: Any) -> None:
    message = MessageFactory()
    status, listed = call(bare, "GET", "/api/messages", query=f"pageId={message.page_id}")
    (expected,) = Api().get("/api/messages", pageId=message.page_id).json["messages"]
    assert (status, [without_times(each) for each in listed["messages"]]) == ("200 OK", [without_times(expected)])
    status, one = call(bare, "GET", f"/api/messages/{message.pk}")
    assert (status, without_times(one)) == ("200 OK", without_times(expected))


def test_it_writes_and_replays_a_post_as_the_service_does(bare: Any) -> None:
    page_id, agent = str(PageFactory().pk), agent_with_token()
    for headers in ({}, {"HTTP_IDEMPOTENCY_KEY": "once"}):
        body, sent = {"pageId": page_id, "content": "Hello"}, as_agent(agent, **headers)
        status, posted = call(bare, "POST", "/api/messages", body=body, **sent)
        stored = Api().get(f"/api/messages/{posted['id']}").json
        assert (status, without_times(posted)) == ("201 Created", without_times(stored))
        replay = call(bare, "POST", "/api/messages", body=body, **sent)
        assert (replay == (status, posted)) is bool(headers)
    assert Message.objects.count() == 3
    unknown = {"pageId": "p1_" + "0" * 40, "content": "Hello"}
    assert call(bare, "POST", "/api/messages", body=unknown, **as_agent(agent))[0] == "429 Too Many Requests"


def test_it_stores_a_reaction(bare: Any) -> None:
    message, agent = MessageFactory(), agent_with_token()
    body = {"messageId": str(message.pk), "emoji": "👍"}
    assert call(bare, "POST", "/v1/reactions", body=body, **as_agent(agent))[0] == "200 OK"
    assert Reaction.objects.get().message_id == message.pk
