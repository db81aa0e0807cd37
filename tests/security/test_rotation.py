"""Secrets are rotated without a failed call; after --finish the previous secret is not accepted."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from config import secrets
from kernel.fingerprints import require_known_secrets
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.clients import Clients
from tests.factories import MessageFactory, PageFactory, PersonFactory
from tests.remote import Remote
from tests.service import running_service

pytestmark = pytest.mark.django_db


@pytest.fixture
def secrets_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Path:
    """secrets.json of a data folder; the environment has no secrets."""
    for name in (*secrets.NAMES, "DATABASE_URL"):
        monkeypatch.delenv(name)
    settings.DATA_DIR = tmp_path
    secrets.make_once(tmp_path)
    return tmp_path / "secrets.json"


def rotate(name: str, *options: str) -> str:
    output = io.StringIO()
    call_command("rotate_secret", name, *options, stdout=output, stderr=io.StringIO())
    return output.getvalue()


@pytest.mark.parametrize("name", secrets.NAMES)
def test_previous_secret_is_stored_until_finish(secrets_file: Path, name: str) -> None:
    before = json.loads(secrets_file.read_text())
    rotate(name)
    during = json.loads(secrets_file.read_text())
    assert during == before | {name: during[name], f"{name}_PREVIOUS": before[name]}
    assert during[name] != before[name]
    assert len(during[name]) >= secrets.SECRET_MIN
    assert secrets.read_previous(name, data=secrets_file.parent) == before[name]
    assert secrets_file.stat().st_mode & 0o077 == 0
    if name in secrets.OUTLIVED:
        with pytest.raises(CommandError, match="not over"):
            rotate(name)
    rotate(name, "--finish")
    assert json.loads(secrets_file.read_text()) == before | {name: during[name]}


def test_secret_key_is_rotated_repeatedly_without_finish(secrets_file: Path) -> None:
    for _ in range(3):
        before = json.loads(secrets_file.read_text())
        rotate("SECRET_KEY")
        after = json.loads(secrets_file.read_text())
        assert after == before | {"SECRET_KEY": after["SECRET_KEY"], "SECRET_KEY_PREVIOUS": before["SECRET_KEY"]}
        assert after["SECRET_KEY"] != before["SECRET_KEY"]
    require_known_secrets()


def test_secrets_from_the_environment_are_printed_not_stored(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    printed = dict(line.split("=", 1) for line in rotate("ROOT_KEY").splitlines())
    assert printed.keys() == {"ROOT_KEY", "ROOT_KEY_PREVIOUS"}
    assert printed["ROOT_KEY_PREVIOUS"] == settings.ROOT_KEY != printed["ROOT_KEY"]
    with pytest.raises(CommandError, match="Take ROOT_KEY_PREVIOUS out"):
        rotate("ROOT_KEY", "--finish")
    assert not list(tmp_path.iterdir())


def test_use_of_a_token_rehashes_it_with_the_new_pepper(settings: Any) -> None:
    used, idle = agent_with_token(), agent_with_token()
    settings.TOKEN_PEPPER, settings.TOKEN_PEPPER_PREVIOUS = "p" * 60, settings.TOKEN_PEPPER
    newer = agent_with_token()
    assert used.api.get("/v1/agent/self").status == 200
    settings.TOKEN_PEPPER_PREVIOUS = ""
    answers = [agent.api.get("/v1/agent/self").status for agent in (used, idle, newer)]
    assert answers == [200, 401, 200]


def test_token_is_rehashed_even_if_its_last_use_was_just_recorded(
    settings: Any, django_assert_num_queries: Any
) -> None:
    agent = agent_with_token()
    assert agent.api.get("/v1/agent/self").status == 200
    settings.TOKEN_PEPPER, settings.TOKEN_PEPPER_PREVIOUS = "p" * 60, settings.TOKEN_PEPPER
    assert agent.api.get("/v1/agent/self").status == 200
    with django_assert_num_queries(3):  # rehashed once: token, agent, limits; no update
        assert agent.api.get("/v1/agent/self").status == 200
    settings.TOKEN_PEPPER_PREVIOUS = ""
    assert agent.api.get("/v1/agent/self").status == 200


def test_cursor_signed_with_the_previous_root_key_is_valid(settings: Any) -> None:
    page: Any = PageFactory()
    for _ in range(3):
        MessageFactory(page=page)
    cursor = Api().get("/api/messages", pageId=page.pk, limit=1).json["nextCursor"]
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "r" * 60, settings.ROOT_KEY
    assert Api().get("/api/messages", pageId=page.pk, limit=1, cursor=cursor).status == 200
    settings.ROOT_KEY_PREVIOUS = ""
    assert Api().get("/api/messages", pageId=page.pk, limit=1, cursor=cursor).error == "invalid_cursor"


def test_the_token_of_a_person_ends_with_the_secret_key_alone(settings: Any) -> None:
    """It is signed with the SECRET_KEY: the other secrets may be rotated while people are signed in."""
    person = Api.as_person(PersonFactory())
    for name in secrets.OUTLIVED:
        setattr(settings, name, "n" * 60)
    assert person.get("/v1/agent-tokens").status == 200


@pytest.mark.slow
@pytest.mark.processes
def test_rotation_of_a_stopped_service_keeps_replays_and_tokens_of_agents_valid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in secrets.NAMES:
        monkeypatch.delenv(name)
    with running_service() as service:
        clients = Clients(service)
        person = clients.person()
        agent = Remote(service.port, {"Authorization": f"Bearer {clients.agent_token(person)}"})
        body = {"pageId": clients.page_id("https://example.com/rotation"), "content": "Once"}
        first = agent.call("POST", "/api/messages", body, key="before")
        service.stop()
        agent.close()
        for name in secrets.NAMES:
            clients.manage("rotate_secret", name)
        service.start()
        again = agent.call("POST", "/api/messages", body, key="before")
        assert (again.status, again.body, again.headers["idempotent-replayed"]) == (201, first.body, "true")
        assert agent.call("POST", "/api/messages", body, key="after").status == 201
        assert agent.call("GET", "/v1/agent/self").status == 200
        assert agent.call("GET", "/v1/agent-tokens", **person.user).status == 401
