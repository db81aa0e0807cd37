"""The command revoke_agent_tokens."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.utils import timezone

from agents.models import AgentToken
from agents.services import create_token
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import SuperAdminFactory

pytestmark = pytest.mark.django_db


def run(*args: str) -> dict[str, Any]:
    out = StringIO()
    call_command("revoke_agent_tokens", *args, "--json", stdout=out)
    printed: dict[str, Any] = json.loads(out.getvalue())
    return printed


@pytest.fixture
def two() -> tuple[TokenHolder, TokenHolder]:
    return agent_with_token(), agent_with_token()


def test_one_agents(two: tuple[TokenHolder, TokenHolder]) -> None:
    mine, other = two
    create_token(request_id=mine.request.pk, by=mine.request.requester)
    printed = run("--agent", mine.request.agent_handle, "--reason", "Leaked.")
    assert printed["revoked"] == len(printed["tokens"]) == 2
    assert {token["agent"] for token in printed["tokens"]} == {mine.request.agent_handle}
    assert mine.api.get("/v1/agent/self").error == "token_revoked"
    assert other.api.get("/v1/agent/self").status == 200
    assert set(mine.agent.tokens.values_list("revoke_reason", flat=True)) == {"Leaked."}


def test_a_prefix_that_no_token_has_is_an_error(two: tuple[TokenHolder, TokenHolder]) -> None:
    with pytest.raises(CommandError, match="nothing is revoked"):
        run("--prefix", "cag_mistyped", "--reason", "Leaked.")


def test_by_prefix(two: tuple[TokenHolder, TokenHolder]) -> None:
    printed = run("--prefix", two[0].token.prefix, "--reason", "Leaked.")
    assert [token["id"] for token in printed["tokens"]] == [str(two[0].token.pk)]
    assert AgentToken.objects.active().get() == two[1].token


def test_all(two: tuple[TokenHolder, TokenHolder]) -> None:
    AgentToken.objects.filter(pk=two[0].token.pk).update(expires_at=timezone.now())
    assert run("--all", "--reason", "Leaked.")["revoked"] == 1
    assert not AgentToken.objects.active().exists()


def test_is_safe_twice(two: tuple[TokenHolder, TokenHolder]) -> None:
    run("--all", "--reason", "First.")
    assert run("--all", "--reason", "Second.") == {"revoked": 0, "tokens": []}
    assert set(AgentToken.objects.values_list("revoke_reason", flat=True)) == {"First."}
    assert LogEntry.objects.filter(object_id=str(two[0].token.pk)).count() == 1


def test_stands_in_the_history(two: tuple[TokenHolder, TokenHolder]) -> None:
    admin = SuperAdminFactory()
    run("--prefix", two[0].token.prefix, "--reason", "Leaked.", "--by", admin.handle)
    run("--prefix", two[1].token.prefix, "--reason", "Leaked.")
    named, unnamed = (LogEntry.objects.get(object_id=str(held.token.pk)) for held in two)
    assert (named.user, named.change_message) == (admin, "Revoked: Leaked.")
    assert (unnamed.user.handle, unnamed.user.is_active) == ("command-line", False)


@pytest.mark.parametrize(
    "args",
    [
        ["--reason", "x"],
        ["--all"],
        ["--all", "--agent", "x", "--reason", "x"],
        ["--agent", "nobody_here", "--reason", "x"],
        ["--all", "--reason", "  "],
        ["--all", "--reason", "x" * 501],
        ["--all", "--reason", "x", "--by", "nobody_here"],
    ],
)
def test_refuses(two: tuple[TokenHolder, TokenHolder], args: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("revoke_agent_tokens", *args)
    assert AgentToken.objects.active().count() == 2


def test_prints_sentences_without_json(two: tuple[TokenHolder, TokenHolder]) -> None:
    out = StringIO()
    call_command("revoke_agent_tokens", "--agent", two[0].request.agent_handle, "--reason", "x", stdout=out)
    assert out.getvalue().splitlines() == [
        f"{two[0].token.prefix}… of @{two[0].request.agent_handle} revoked",
        "1 revoked.",
    ]
