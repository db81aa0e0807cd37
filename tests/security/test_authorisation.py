"""Authorisation: every operation is called by every kind of caller of the table."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from kernel.api.credentials import CredentialKind
from kernel.api.operations import all_operations
from tests.api import Answer
from tests.security.world import COLUMNS, ROWS, Call, World

# Rows of operations with `?all=1`, which needs more rights than the plain call.
WIDER = {"listAllTokens": "listAgentTokens", "listAllRequests": "listAgentRequests"}
MEANINGS = {
    "anon": (401, "not_authenticated"),
    "bad": (401, "invalid_token"),
    "deny": (403, "agent_route_not_allowed"),
    "own": (403, "not_owner"),
    "author": (403, "not_author"),
    "cursor": (400, "invalid_cursor"),
    "admin": (403, "super_admin_required"),
    "mod": (403, "moderator_required"),
}


def test_the_table_has_every_operation_and_every_caller() -> None:
    assert ROWS.keys() - WIDER.keys() == {operation.id for _path, _method, operation in all_operations()}
    assert {len(cells) for cells in ROWS.values()} == {len(COLUMNS)}


@pytest.mark.django_db
@pytest.mark.parametrize("row", ROWS)
def test_every_caller_gets_the_outcome_of_the_table(row: str, world: World, settings: Any) -> None:
    settings.SOFT_THROTTLES = {name: (10**6, seconds) for name, (_calls, seconds) in settings.SOFT_THROTTLES.items()}
    settings.WEBHOOKS, settings.DOMAIN_CHECKS, settings.OAUTH = True, True, True
    call = world.call(row)
    found = [_meaning(_answer(world, call, column)) for column in COLUMNS]
    assert dict(zip(COLUMNS, found, strict=True)) == dict(zip(COLUMNS, ROWS[row], strict=True))


OPERATIONS = {operation.id: operation for *_, operation in all_operations() if operation.event is None}
# What an account of a site meets where the panel calls for it: the objects of the table belong to other communities.
ELSEWHERE = {
    **dict.fromkeys(("createMessage", "checkMessage", "reportMessage", "addReaction"), (403, "other_community")),
    **dict.fromkeys(("editMessage", "deleteMessage"), (403, "not_author")),
    "removeReaction": (403, "not_owner"),
    "listOwnReactions": (200, None),
    "getOwnModeration": (200, None),
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_account_of_a_site_does_what_the_panel_does_in_its_community(name: str, world: World, settings: Any) -> None:
    """Public operations ignore a person's token, or refuse it, as that of every person."""
    settings.OAUTH = True
    operation, call, reader = OPERATIONS[name], world.call(name), world.site.reader()
    body = [] if call.body is None else [call.body]
    answer = reader.send(call.method, call.path, *body, headers=call.headers)
    found = answer.status, answer.json.get("error") if answer.status >= 400 else None
    if CredentialKind.PUBLIC in operation.callers:
        assert found[0] < 300 or found == (401, "invalid_token")
    elif operation.for_panel:
        assert found == ELSEWHERE.get(name, (403, "moderator_required"))
    else:
        assert found[0] == 401


def _answer(world: World, call: Call, column: str) -> Answer:
    """The response to a call that is rolled back."""
    point = transaction.savepoint()
    try:
        caller = world.caller(column, call.scope)
        body = [] if call.body is None else [call.body]
        return caller.send(call.method, call.path, *body, headers=call.headers)
    finally:
        transaction.savepoint_rollback(point)


def _meaning(answer: Answer) -> str:
    # A worker redirects to the stream process.
    if answer.status < 300 or answer.status == 307:
        return "ok"
    if answer.status == 404:
        return "404"
    if str(answer.error).startswith("agent_scope_missing:"):
        return "scope"
    names = {meaning: name for name, meaning in MEANINGS.items()}
    return names.get((answer.status, answer.error), f"{answer.status} {answer.error}")
