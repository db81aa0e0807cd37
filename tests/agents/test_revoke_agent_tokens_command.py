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
    output: dict[str, Any] = json.loads(out.getvalue())
    return output


@pytest.fixture
def two() -> tuple[TokenHolder, TokenHolder]:
    return agent_with_token(), agent_with_token()


def test_agent_option_revokes_the_tokens_of_one_agent(two: tuple[TokenHolder, TokenHolder]) -> None:
    mine, other = two
    create_token(request_id=mine.request.pk, by=mine.request.requester)
    output = run("--agent", mine.request.agent_handle, "--reason", "Leaked.")
    assert output["revoked"] == len(output["tokens"]) == 2
    assert {token["agent"] for token in output["tokens"]} == {mine.request.agent_handle}
    assert mine.api.get("/v1/agent/self").error == "token_revoked"
    assert other.api.get("/v1/agent/self").status == 200
    assert set(mine.agent.tokens.values_list("revoke_reason", flat=True)) == {"Leaked."}


def test_unknown_prefix_is_an_error(two: tuple[TokenHolder, TokenHolder]) -> None:
    with pytest.raises(CommandError, match="No token has the prefix"):
        run("--prefix", "cag_mistyped", "--reason", "Leaked.")


def test_prefix_option_revokes_one_token(two: tuple[TokenHolder, TokenHolder]) -> None:
    output = run("--prefix", two[0].token.prefix, "--reason", "Leaked.")
    assert [token["id"] for token in output["tokens"]] == [str(two[0].token.pk)]
    assert AgentToken.objects.active().get() == two[1].token


def test_all_option_revokes_every_active_token(two: tuple[TokenHolder, TokenHolder]) -> None:
    AgentToken.objects.filter(pk=two[0].token.pk).update(expires_at=timezone.now())
    assert run("--all", "--reason", "Leaked.")["revoked"] == 1
    assert not AgentToken.objects.active().exists()


def test_second_run_changes_nothing(two: tuple[TokenHolder, TokenHolder]) -> None:
    run("--all", "--reason", "First.")
    assert run("--all", "--reason", "Second.") == {"revoked": 0, "tokens": []}
    assert set(AgentToken.objects.values_list("revoke_reason", flat=True)) == {"First."}
    assert LogEntry.objects.filter(object_id=str(two[0].token.pk)).count() == 1


def test_revocation_is_logged_with_the_actor(two: tuple[TokenHolder, TokenHolder]) -> None:
    admin = SuperAdminFactory()
    run("--prefix", two[0].token.prefix, "--reason", "Leaked.", "--by", admin.handle)
    run("--prefix", two[1].token.prefix, "--reason", "Leaked.")
    named, unnamed = (LogEntry.objects.get(object_id=str(holder.token.pk)) for holder in two)
    assert (named.user, named.change_message) == (admin, "Revoked (active → revoked): Leaked.")
    assert (unnamed.user.handle, unnamed.user.is_active) == ("command-line", False)


def test_invalid_options_are_errors(two: tuple[TokenHolder, TokenHolder]) -> None:
    for args in [
        ["--reason", "x"],
        ["--all"],
        ["--prefix", "", "--reason", "x"],
        ["--agent", "", "--reason", "x"],
        ["--all", "--agent", "x", "--reason", "x"],
        ["--agent", "unknown_handle", "--reason", "x"],
        ["--all", "--reason", "  "],
        ["--all", "--reason", "x" * 501],
        ["--all", "--reason", "x", "--by", "unknown_handle"],
    ]:
        with pytest.raises(CommandError):
            call_command("revoke_agent_tokens", *args)
        assert AgentToken.objects.active().count() == 2, args


def test_a_reason_may_have_500_characters(two: tuple[TokenHolder, TokenHolder]) -> None:
    assert run("--agent", two[0].request.agent_handle, "--reason", "x" * 500)["revoked"] == 1
    assert AgentToken.objects.get(pk=two[0].token.pk).revoke_reason == "x" * 500


def test_output_without_json(two: tuple[TokenHolder, TokenHolder]) -> None:
    out = StringIO()
    call_command("revoke_agent_tokens", "--agent", two[0].request.agent_handle, "--reason", "x", stdout=out)
    assert out.getvalue().splitlines() == [
        f"{two[0].token.prefix}… of @{two[0].request.agent_handle} revoked",
        "1 revoked.",
    ]
