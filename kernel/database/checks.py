"""System checks of the isolation level, of the sessions of a pooler and of the standbys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as CheckWarning
from django.db import Error as DatabaseError
from django.db import connections

from kernel.database import deployment, urls
from kernel.database.sql import first_line


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


@register(deploy=True)
def check_deployment(**_kwargs: Any) -> list[CheckMessage]:
    """Each session has what the service relies on, and each host for reads is a standby."""
    aliases = [alias for alias in connections if alias.startswith(deployment.STANDBY)]
    return [*_check_sessions(), *(message for alias in aliases for message in _check_standby(alias))]


def _check_sessions() -> list[CheckMessage]:
    """Through a pooler: its role gives the settings of the sessions."""
    if deployment.DIRECT not in connections:
        return []
    needed = {name: str(value) for name, value in urls.session_settings(settings.STATEMENT_TIMEOUT).items()}
    needed["TimeZone"] = "UTC"
    try:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT name, setting, current_user FROM pg_settings WHERE name = ANY(%s)", [list(needed)])
            found = cursor.fetchall()
        with connections[deployment.DIRECT].cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return [Error(f"PostgreSQL does not answer: {first_line(error)}", id="api.E004")]
    return [
        Error(
            f"The sessions of the pooler have {name} = {value!r} instead of {needed[name]!r}.",
            hint=f"As a superuser: ALTER ROLE {role} SET {name} = '{needed[name]}'; then RECONNECT the pooler.",
            id="api.E005",
        )
        for name, value, role in found
        if value != needed[name]
    ]


def _check_standby(alias: str) -> list[CheckMessage]:
    host = f"The host {connections[alias].settings_dict['HOST']} of READ_DATABASE_URL"
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT pg_is_in_recovery()")
            (is_standby,) = cursor.fetchone()
    except DatabaseError as error:
        return [CheckWarning(f"{host} does not answer: {first_line(error)}", id="api.W001")]
    return (
        [] if is_standby else [CheckWarning(f"{host} is no standby: it takes no load off the primary.", id="api.W002")]
    )
