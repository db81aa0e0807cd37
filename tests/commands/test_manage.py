"""manage.py: the limits of statements."""

from __future__ import annotations

import os
import sys

import pytest

import manage


@pytest.mark.parametrize(
    ("command", "expected"),
    [("prune", "0"), ("migrate", "0"), ("help", "0"), ("deliver_webhooks", "1234"), ("deliver_mails", "1234")],
)
def test_a_statement_is_limited_only_in_the_command_that_runs_as_long_as_the_service(
    command: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    monkeypatch.setenv("STATEMENT_TIMEOUT", "1234")
    monkeypatch.setattr(sys, "argv", ["manage.py", command])
    monkeypatch.setattr(manage.Commands, "execute", lambda _self: found.append(os.environ["STATEMENT_TIMEOUT"]))
    manage.main()
    assert found == [expected]
