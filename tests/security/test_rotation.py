"""The service's secrets are replaced without anybody noticing, and what was replaced stops to count."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from config import secrets
from config.fingerprints import require_known_secrets
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.clients import Clients
from tests.factories import MessageFactory, PageFactory
from tests.remote import Remote
from tests.service import running_service

pytestmark = pytest.mark.django_db


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Path:
    """A data folder that keeps the secrets, and nothing of them in the environment."""
    for name in (*secrets.NAMES, "DATABASE_URL"):
        monkeypatch.delenv(name)
    settings.DATA_DIR = tmp_path
    secrets.make_once(tmp_path)
    return tmp_path / "secrets.json"


def rotate(name: str, *options: str) -> str:
    said = io.StringIO()
    call_command("rotate_secret", name, *options, stdout=said, stderr=io.StringIO())
    return said.getvalue()


@pytest.mark.parametrize("name", secrets.NAMES)
def test_the_one_before_is_kept_until_the_end(kept: Path, name: str) -> None:
    before = json.loads(kept.read_text())
    rotate(name)
    during = json.loads(kept.read_text())
    assert during == before | {name: during[name], f"{name}_PREVIOUS": before[name]}
    assert during[name] != before[name]
    assert len(during[name]) >= secrets.SECRET_MIN
    assert secrets.read_previous(name, data=kept.parent) == before[name]
    assert kept.stat().st_mode & 0o077 == 0
    if name in secrets.OUTLIVED:
        with pytest.raises(CommandError, match="not over"):
            rotate(name)
    rotate(name, "--finish")
    assert json.loads(kept.read_text()) == before | {name: during[name]}


def test_the_signing_key_is_rotated_again_and_again_without_a_finish(kept: Path) -> None:
    for _ in range(3):
        before = json.loads(kept.read_text())
        rotate("SECRET_KEY")
        after = json.loads(kept.read_text())
        assert after == before | {"SECRET_KEY": after["SECRET_KEY"], "SECRET_KEY_PREVIOUS": before["SECRET_KEY"]}
        assert after["SECRET_KEY"] != before["SECRET_KEY"]
    require_known_secrets()


def test_the_environment_is_told_not_changed(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    told = dict(line.split("=", 1) for line in rotate("ROOT_KEY").splitlines())
    assert told.keys() == {"ROOT_KEY", "ROOT_KEY_PREVIOUS"}
    assert told["ROOT_KEY_PREVIOUS"] == settings.ROOT_KEY != told["ROOT_KEY"]
    with pytest.raises(CommandError, match="Take ROOT_KEY_PREVIOUS out"):
        rotate("ROOT_KEY", "--finish")
    assert not list(tmp_path.iterdir())


def test_tokens_in_use_move_to_the_new_pepper(settings: Any) -> None:
    used, idle = agent_with_token(), agent_with_token()
    settings.TOKEN_PEPPER, settings.TOKEN_PEPPER_PREVIOUS = "p" * 60, settings.TOKEN_PEPPER
    newer = agent_with_token()
    assert used.api.get("/v1/agent/self").status == 200
    settings.TOKEN_PEPPER_PREVIOUS = ""
    answers = [held.api.get("/v1/agent/self").status for held in (used, idle, newer)]
    assert answers == [200, 401, 200]


def test_a_token_that_was_used_a_moment_before_moves_at_its_next_use(
    settings: Any, django_assert_num_queries: Any
) -> None:
    held = agent_with_token()
    assert held.api.get("/v1/agent/self").status == 200
    settings.TOKEN_PEPPER, settings.TOKEN_PEPPER_PREVIOUS = "p" * 60, settings.TOKEN_PEPPER
    assert held.api.get("/v1/agent/self").status == 200
    with django_assert_num_queries(3):  # moved once: the token, the agent, its limits, and no note
        assert held.api.get("/v1/agent/self").status == 200
    settings.TOKEN_PEPPER_PREVIOUS = ""
    assert held.api.get("/v1/agent/self").status == 200


def test_cursors_of_before_still_lead_on(settings: Any) -> None:
    page: Any = PageFactory()
    for _ in range(3):
        MessageFactory(page=page)
    cursor = Api().get("/api/messages", pageId=page.pk, limit=1).json["nextCursor"]
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "r" * 60, settings.ROOT_KEY
    assert Api().get("/api/messages", pageId=page.pk, limit=1, cursor=cursor).status == 200
    settings.ROOT_KEY_PREVIOUS = ""
    assert Api().get("/api/messages", pageId=page.pk, limit=1, cursor=cursor).error == "invalid_cursor"


def test_nobody_notices_a_rotation_of_the_running_service(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in secrets.NAMES:
        monkeypatch.delenv(name)
    with running_service() as service:
        clients = Clients(service)
        person = clients.person()
        agent = Remote(service.port, {"Authorization": f"Bearer {clients.agent_token(person)}"})
        body = {"pageId": clients.page_id("https://example.com/rotation"), "content": "Once"}
        first = agent.call("POST", "/api/messages", body, key="before")
        for name in secrets.OUTLIVED:
            clients.manage("rotate_secret", name)
        service.stop()
        agent.close()
        service.start()
        again = agent.call("POST", "/api/messages", body, key="before")
        assert (again.status, again.body, again.headers["idempotent-replayed"]) == (201, first.body, "true")
        assert agent.call("POST", "/api/messages", body, key="after").status == 201
        assert agent.call("GET", "/v1/agent-tokens", **person.user).status == 200

        clients.manage("rotate_secret", "SECRET_KEY")
        service.stop()
        agent.close()
        service.start()
        assert agent.call("GET", "/v1/agent/self").status == 200
        assert agent.call("GET", "/v1/agent-tokens", **person.user).status == 401
