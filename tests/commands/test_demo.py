from __future__ import annotations

import json
import shlex
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from agents.models import Agent, AgentRequest, AgentToken
from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.commands.running import run, run_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


def rows() -> Counter[str]:
    return Counter({model.__name__: model._default_manager.count() for model in apps.get_models()})


def test_demo_creates_each_kind_of_content(data: Path) -> None:
    facts = run_json("demo", "--json")
    assert json.loads((data / "demo.json").read_text()) == facts
    posts = Api().get("/api/messages", pageId=facts["pageId"]).json["messages"]
    assert {post["author"]["kind"] for post in posts} == {"human", "agent"}
    assert any(post["tagType"] for post in posts)
    assert any(post["quoteId"] for post in posts)
    assert any(post["replyCount"] for post in posts)
    assert any(post["reactionTotal"] for post in posts)
    assert AgentRequest.objects.filter(status="pending").exists()
    assert Api().get(f"/api/embeds/config/{facts['embedId']}").status == 200
    # The widget of the demo shows all of them.
    shown = Api().get("/api/messages", pageId=facts["pageId"], embedId=facts["embedId"]).json["messages"]
    assert [post["id"] for post in shown] == [post["id"] for post in posts]


def test_demo_people_can_sign_in_and_the_printed_curl_command_posts() -> None:
    facts = run_json("demo", "--json")
    for role in ("admin", "person"):
        credentials = {name: facts[role][name] for name in ("handle", "password")}
        assert Api().post("/api/auth/login", credentials).status == 200
    words = shlex.split(facts["curl"].replace("\\\n", " "))
    headers = dict(words[n + 1].split(": ", 1) for n, word in enumerate(words) if word == "-H")
    body = json.loads(words[words.index("-d") + 1])
    key = headers.pop("Idempotency-Key")
    first, again = (Api(headers).post("/api/messages", body, key=key) for _ in range(2))
    assert (first.status, again.body) == (201, first.body)


def test_a_second_run_adds_no_rows(data: Path) -> None:
    data.mkdir()
    # What a run that was killed may leave.
    (data / "demo.new").touch()
    first = run_json("demo", "--json")
    before = rows()
    assert run_json("demo", "--json") == first
    assert rows() == before


def test_only_the_owner_can_read_the_credentials(data: Path) -> None:
    printed = run("demo")
    facts = json.loads((data / "demo.json").read_text())
    assert "demo.json" in printed
    assert not [secret for secret in (facts["person"]["password"], facts["agentToken"]) if secret in printed]
    assert stat.S_IMODE((data / "demo.json").stat().st_mode) == 0o600
    assert [file.name for file in data.iterdir()] == ["demo.json"]


def test_a_lost_file_creates_a_new_token_and_no_posts(data: Path) -> None:
    first, bystander = run_json("demo", "--json"), agent_with_token()
    before = Message.objects.count()
    (data / "demo.json").unlink()
    second = run_json("demo", "--json")
    assert second["agentToken"] != first["agentToken"]
    assert Message.objects.count() == before
    assert Api.as_agent(first["agentToken"]).get("/v1/agent/self").error == "token_revoked"
    assert Api.as_agent(second["agentToken"]).get("/v1/agent/self").status == 200
    assert AgentToken.objects.active().count() == 2
    assert bystander.api.get("/v1/agent/self").status == 200


@pytest.mark.django_db(transaction=True)
def test_concurrent_runs_on_several_hosts_create_the_demo_once() -> None:
    """The host lock serialises the runs; otherwise all of them would claim the same handles."""
    race(3, lambda _: run("demo"))
    assert Agent.objects.count() == 2
    # Each host creates a token for its demo.json. Here they share a folder, and the last token is active.
    assert AgentToken.objects.active().count() == 1
