"""Idempotency-Key: the first 2xx response is stored for seven days and replayed for the same key."""

from __future__ import annotations

import subprocess
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import F, Value

from agents.models import AgentToken
from kernel.writes.idempotency import STORED_DAYS
from kernel.writes.middleware import Write
from kernel.writes.models import RateLimitEvent, StoredResponse
from messaging.models import Message
from runtime.postgres_binaries import binaries
from tests.agents.factories import ApprovedFactory, TokenHolder, agent_with_token
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory

PATH = "/api/messages"
KEY = "c0ffee-1"

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


@pytest.fixture(autouse=True, params=["found with the token", "found behind the locks"])
def _path_to_the_stored_response(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A retry finds the response with the agent token, or behind the locks if the first request is still running."""
    if request.param == "found behind the locks":
        monkeypatch.setattr(Write, "find_replay", lambda _write: None)


@pytest.fixture
def page_id() -> str:
    return str(PageFactory().pk)


def post(api: Api, page_id: str, key: str | None = KEY, **fields: Any) -> Answer:
    return api.post(PATH, {"pageId": page_id, "content": "Once", **fields}, key=key)


def age_stored_responses(by: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE api_storedresponse SET created_at = created_at - %s::interval", [by])


def is_replay(response: Answer) -> bool:
    return response.headers.get("Idempotent-Replayed") == "true"


def test_a_replay_has_the_same_bytes_and_a_header_and_writes_nothing(agent: TokenHolder, page_id: str) -> None:
    first, again = post(agent.api, page_id), post(agent.api, page_id)
    assert (first.status, again.status) == (201, 201)
    assert again.body == first.body
    assert again.headers["Location"] == first.headers["Location"] == f"{PATH}/{first.json['id']}"
    assert again.headers["Content-Type"] == first.headers["Content-Type"]
    assert (is_replay(first), is_replay(again)) == (False, True)
    assert again.headers["Link"] == first.headers["Link"]
    assert "Idempotency-Payload-Mismatch" not in again.headers
    assert Message.objects.count() == 1
    # Bodies are compared as JSON, not as bytes, and later changes are ignored.
    Message.objects.update(content="Changed", status="hidden", reply_count=F("reply_count") + Value(3))
    spaced = f'{{ "content" : "\\u004fnce",\n "pageId": "{page_id}" }}'.encode()
    again = agent.api.send("POST", PATH, raw=spaced, key=KEY)
    assert (is_replay(again), again.body) == (True, first.body)
    assert "Idempotency-Payload-Mismatch" not in again.headers


def test_a_replay_is_not_charged_and_ignores_an_exhausted_limit(
    agent: TokenHolder, page_id: str, settings: Any
) -> None:
    settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 1}
    first = post(agent.api, page_id)
    replays = [post(agent.api, page_id) for _ in range(3)]
    assert post(agent.api, page_id, key="another").error == "agent_rate_limited"
    assert {response.body for response in replays} == {first.body}
    assert replays[0].headers["RateLimit"].startswith('"post";r=0;t=')
    assert RateLimitEvent.objects.count() == 1


def test_a_refused_request_stores_nothing_under_the_key(agent: TokenHolder, page_id: str, settings: Any) -> None:
    community = CommunityFactory(blocked_words=["spam"])
    settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 0}
    refused = [
        post(agent.api, page_id, content=""),
        post(agent.api, page_id, content="x" * 20_001),
        post(agent.api, page_id, communityId=str(uuid4())),
        post(agent.api, page_id, communityId=str(community.pk), content="spam"),
        post(agent.api, page_id),
    ]
    assert [response.status for response in refused] == [400, 413, 404, 422, 429]
    assert not StoredResponse.objects.exists()
    settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 1}
    written = post(agent.api, page_id)
    assert (written.status, is_replay(written)) == (201, False)


def test_a_replay_for_another_body_is_marked(agent: TokenHolder, page_id: str) -> None:
    first, again = post(agent.api, page_id), post(agent.api, page_id, content="Twice")
    assert (again.status, again.body) == (201, first.body)
    assert again.headers["Idempotency-Payload-Mismatch"] == "true"
    assert is_replay(again)


def test_another_body_is_422_if_the_setting_is_reject(agent: TokenHolder, page_id: str, settings: Any) -> None:
    settings.IDEMPOTENCY_MISMATCH = "reject"
    first = post(agent.api, page_id)
    other = post(agent.api, page_id, content="Twice")
    assert (other.status, other.error) == (422, "idempotency_key_reused")
    assert post(agent.api, page_id).body == first.body
    assert Message.objects.count() == 1


def test_a_key_is_scoped_to_account_method_and_path(agent: TokenHolder, page_id: str) -> None:
    first = post(agent.api, page_id)
    others = [post(agent_with_token().api, page_id), post(Api.as_person(PersonFactory()), page_id)]
    assert not any(is_replay(response) for response in others)
    assert len({response.json["id"] for response in (first, *others)}) == 3
    reaction = agent.api.post("/v1/reactions", {"messageId": first.json["id"], "emoji": "👍"}, key=KEY)
    assert reaction.json["action"] == "added"
    assert not is_replay(reaction)


def test_every_kind_of_write_is_replayed(agent: TokenHolder) -> None:
    """addReaction, removeReaction (without a replay its repeat is a 404) and a write of an operator."""
    target = {"messageId": str(MessageFactory().pk), "emoji": "👍"}
    added = [agent.api.post("/v1/reactions", target, key=KEY) for _ in range(2)]
    assert added[0].body == added[1].body
    assert added[1].json["action"] == "added"
    removed = [agent.api.delete(f"/v1/reactions/{added[0].json['reactionId']}", key=KEY) for _ in range(2)]
    assert (removed[0].status, removed[1].status, is_replay(removed[1])) == (200, 200, True)
    assert removed[0].body == removed[1].body


def test_another_token_of_the_agent_gets_the_replay_and_one_that_may_not_post_none(
    agent: TokenHolder, page_id: str
) -> None:
    first = post(agent.api, page_id)
    operator = Api.as_person(agent.request.requester)
    token = operator.post(f"/v1/agent-tokens/requests/{agent.request.pk}/token").json["token"]
    assert post(Api.as_agent(token), page_id).body == first.body
    agent.agent.scopes = ["react"]
    agent.agent.save()
    assert post(agent.api, page_id).error == "agent_scope_missing:post"
    agent.agent.scopes = ["post"]
    agent.agent.save()
    assert operator.post(f"/v1/agent-tokens/{agent.token.pk}/revoke").status == 200
    again = post(agent.api, page_id)
    assert (again.status, again.error) == (401, "token_revoked")
    assert post(Api.as_agent(token), page_id).body == first.body


def test_a_key_has_1_to_160_printable_ascii_characters(agent: TokenHolder, page_id: str) -> None:
    for key in ("k" * 160, "!", "~" * 5, 'a "quoted" key; with=all {sorts}'):
        first = post(agent.api, page_id, key=key)
        assert first.status == 201
        assert post(agent.api, page_id, key=key).body == first.body
    written = Message.objects.count()
    for key in ("", "k" * 161, "clé", "key\x7f", "a\tb", "ключ", "k\n"):
        response = post(agent.api, page_id, key=key)
        assert (response.status, response.error) == (400, "invalid_idempotency_key")
    assert Message.objects.count() == written
    # It is checked after the scope and before the fields.
    narrow = agent_with_token(scopes=["react"])
    assert post(narrow.api, page_id, key="").error == "agent_scope_missing:post"
    assert post(agent.api, "nonsense", key="").error == "invalid_idempotency_key"


def test_public_writes_ignore_the_key() -> None:
    responses = [
        Api().post("/v1/presence/normalize-url", {"url": url}, key="k" * 161) for url in ("https://a.eu", "x:")
    ]
    assert [response.status for response in responses] == [200, 400]


def test_a_response_is_stored_for_seven_days(agent: TokenHolder, page_id: str) -> None:
    first = post(agent.api, page_id)
    age_stored_responses(f"{STORED_DAYS} days - 1 minute")
    assert post(agent.api, page_id).body == first.body
    age_stored_responses("1 minute")
    later = post(agent.api, page_id)
    assert (later.status, is_replay(later)) == (201, False)
    assert later.json["id"] != first.json["id"]
    assert post(agent.api, page_id).body == later.body
    assert StoredResponse.objects.count() == 1


def test_the_previous_root_key_decrypts_stored_responses(agent: TokenHolder, page_id: str, settings: Any) -> None:
    first = post(agent.api, page_id)
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "the next root key", settings.ROOT_KEY
    assert post(agent.api, page_id).body == first.body
    newer = post(agent.api, page_id, key="made after the rotation")
    settings.ROOT_KEY_PREVIOUS = ""
    assert post(agent.api, page_id, key="made after the rotation").body == newer.body
    assert not is_replay(post(agent.api, page_id)), "without the key nothing is decrypted"


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_the_database_contains_neither_key_nor_token() -> None:
    """A replay of createAgentToken returns the same token, which the database does not contain in plain text."""
    request = ApprovedFactory()
    operator, path = Api.as_person(request.requester), f"/v1/agent-tokens/requests/{request.pk}/token"
    first, again = (operator.post(path, key="a-key-that-is-secret") for _ in range(2))
    assert first.body == again.body
    assert AgentToken.objects.count() == 1
    dump = dump_of_the_database()
    assert str(request.pk) in dump
    for secret in ("a-key-that-is-secret", first.json["token"], first.json["token"][4:], first.body.decode()):
        assert secret not in dump
        assert secret.encode().hex() not in dump


def dump_of_the_database() -> str:
    at = connection.settings_dict
    command = [binaries() / "pg_dump", "--host", at["HOST"], "--username", at["USER"], "--data-only", at["NAME"]]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
