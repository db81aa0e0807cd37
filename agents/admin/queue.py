"""What the list of agent requests shows of all its rows: warnings, names of communities, the operator's history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from agents.admin.formatting import describe_request
from agents.admin.look_alikes import LookAlikes, look_alikes_of
from agents.models import AgentRequest, RequestStatus
from kernel.database.sql import fetch_all

NEW_ACCOUNT = timedelta(days=7)
MANY_REJECTED = 2
MANY_REFUSED = 100
# Each is run for any number of rows, none included.
COMMUNITIES = "SELECT id, name FROM messaging_community WHERE id = ANY(%s)"
REJECTED = """
SELECT requester_id, count(*) FROM agents_agentrequest
WHERE requester_id = ANY(%s) AND status = 'rejected' GROUP BY requester_id
"""
REFUSED = """
SELECT agent.operator_id, sum(calls.calls)::bigint FROM agents_refusedcall calls
JOIN agents_agent agent ON agent.account_id = calls.agent_id
WHERE agent.operator_id = ANY(%s) GROUP BY agent.operator_id
"""


def prepare(rows: Sequence[Any]) -> None:
    """Set `look_alikes`, `community_names`, `grants` and `warnings` of each request, with four queries."""
    requesters = {row.requester_id for row in rows}
    names = _by_id(COMMUNITIES, {pk for row in rows for pk in _communities_of(row)})
    rejected, refused = _by_id(REJECTED, requesters), _by_id(REFUSED, requesters)
    similar = look_alikes_of([row for row in rows if row.status == RequestStatus.PENDING])
    for row in rows:
        row.look_alikes = similar.get(row.pk, LookAlikes())
        row.community_names = [(pk, names.get(pk, f"unknown: {pk}")) for pk in row.community_ids]
        row.grants = describe_request(row, names)
        row.warnings = list(_warnings(row, rejected.get(row.requester_id, 0), refused.get(row.requester_id, 0)))


def _communities_of(row: AgentRequest) -> list[UUID]:
    return [*row.community_ids, *(row.agent.community_ids if row.agent else ())]


def _by_id(statement: str, ids: set[UUID]) -> dict[UUID, Any]:
    return {row[0]: row[1] for row in fetch_all(statement, [list(ids)])}


def _warnings(row: AgentRequest, rejected: int, refused: int) -> Any:
    """(text, kind of the badge)"""
    if row.status != RequestStatus.PENDING:
        return
    similar: LookAlikes = row.look_alikes  # type: ignore[attr-defined]  # set by `prepare`
    if similar.nearest:
        first = similar.nearest[0]
        yield f"@{first.handle} {first.likeness}", "bad"
    if similar.series:
        yield f"series {similar.series_text}", "" if similar.is_own else "bad"
    if timezone.now() - row.requester.created_at < NEW_ACCOUNT:
        yield "new account", "waiting"
    if rejected >= MANY_REJECTED:
        yield f"{rejected} rejected requests", "bad"
    if refused >= MANY_REFUSED:
        yield f"{refused} refused calls", "bad"
