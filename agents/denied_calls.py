"""Counts the refused calls of agents by day, operation and code, for the review by super admins."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.db import Error, connection
from django.db.models import Max, QuerySet, Sum
from django.http.response import HttpResponseBase

from agents.models import CODE_MAX, RefusedCall
from kernel.api import throttling
from kernel.api.exceptions import RateLimited
from kernel.writes.deletion import delete_in_batches

logger = logging.getLogger(__name__)

STORED_DAYS = 30
NOTE = """
INSERT INTO agents_refusedcall (agent_id, day, operation, code, calls, last_at)
VALUES (%s, (now() AT TIME ZONE 'UTC')::date, %s, %s, 1, now())
ON CONFLICT (agent_id, day, operation, code)
DO UPDATE SET calls = agents_refusedcall.calls + 1, last_at = excluded.last_at
"""


def note(*, agent_id: UUID, operation: str, response: HttpResponseBase) -> None:
    """Count a refused call, after the rollback of its transaction.

    A soft throttle limits how many are counted. A database error is logged and does not change the response.
    """
    try:
        throttling.hit("refusal_note", str(agent_id))
        with connection.cursor() as cursor:
            cursor.execute(NOTE, [agent_id, operation, _code(response)])
    except RateLimited:
        return
    except Error:
        logger.exception("A refused call was not counted")


def refused_calls(agent_id: UUID) -> QuerySet[RefusedCall, Any]:
    """`{operation, code, calls, last_at}` of the stored days, most frequent first."""
    return (
        RefusedCall.objects.filter(agent=agent_id)
        .values("operation", "code")
        .annotate(calls=Sum("calls"), last_at=Max("last_at"))
        .order_by("-calls", "operation", "code")
    )


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete the counts of days before the stored ones. Part of the command `prune`."""
    old = RefusedCall.objects.filter(day__lt=(now - timedelta(days=STORED_DAYS)).date())
    return {"refused calls": old.count() if dry_run else delete_in_batches(old)}


def _code(response: HttpResponseBase) -> str:
    """The code of a refusal; the status of another response, such as a JSON-RPC error."""
    try:
        code = orjson.loads(getattr(response, "content", b""))["error"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        code = None
    return code[:CODE_MAX] if isinstance(code, str) else str(response.status_code)
