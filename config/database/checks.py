"""System check of the isolation level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections


@register(Tags.database)
def check_isolation(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Locking and counting in two statements is exact only if each statement sees all rows committed before it."""
    if not databases or "default" not in databases:
        return []
    with connections["default"].cursor() as cursor:
        cursor.execute("SHOW default_transaction_isolation")
        (level,) = cursor.fetchone()
    if level == "read committed":
        return []
    return [Error(f"The database runs transactions as {level!r}; this service needs 'read committed'.", id="api.E001")]
