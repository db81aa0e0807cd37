"""Connection settings for PostgreSQL (`settings.DATABASES`)."""

from __future__ import annotations

from typing import Any

from kernel.database import addresses
from kernel.database.bounds import MARGIN_SECONDS

# Of an idle transaction, in milliseconds, where statements have no timeout: a command that is frozen in a transaction
# must not stop the readers of the change log for ever.
COMMAND_IDLE_TIMEOUT = 60_000
_DJANGO_NAMES = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}


def database(
    database_url: str, *, statement_timeout: int, variable: str = "DATABASE_URL", pooler: bool = False
) -> dict[str, Any]:
    """The entry of DATABASES for a database address. `statement_timeout` in milliseconds; 0 is no limit."""
    parameters = addresses.of_the_writer(addresses.parse(database_url, variable=variable))
    return entry(parameters, statement_timeout=statement_timeout, pooler=pooler)


def entry(
    parameters: dict[str, Any], *, statement_timeout: int, pooler: bool = False, prepare: bool = True
) -> dict[str, Any]:
    """The entry of DATABASES for the parameters of a connection.

    `pooler`: sessions change their server after each transaction. So they get no start-up parameters, which the role
    has instead (docs/cluster.md), and no cursor that outlives its transaction.
    """
    settings = {
        "ENGINE": "kernel.database.backend",
        **_as_django_settings(parameters),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,
        "DISABLE_SERVER_SIDE_CURSORS": pooler,
        # Of `kernel.database.backend`: its hosts are poolers.
        "POOLER": pooler,
        # Of `kernel.database.backend`: how long a connection waits for an answer.
        "ANSWER_SECONDS": statement_timeout / 1000 + MARGIN_SECONDS if statement_timeout else None,
    }
    settings["OPTIONS"] |= {
        "application_name": "community-messaging",
        "connect_timeout": 3,
        # A statement is prepared on the server when a connection runs it the second time. A generic plan serves any
        # values: with custom plans PostgreSQL would plan each call for the few pages that have many more posts.
        "prepare_threshold": 1 if prepare else None,
    }
    if not pooler:
        settings["OPTIONS"]["options"] = session_options(**session_settings(statement_timeout))
    return settings


def session_settings(statement_timeout: int) -> dict[str, str | int]:
    """What each session needs, by name. Times are in milliseconds."""
    return {
        "default_transaction_isolation": "read committed",
        "plan_cache_mode": "force_generic_plan",
        "statement_timeout": statement_timeout,
        "lock_timeout": 2000,
        "idle_in_transaction_session_timeout": 2 * statement_timeout or COMMAND_IDLE_TIMEOUT,
        "client_connection_check_interval": 2000,
    }


def _as_django_settings(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of an address without a Django name become OPTIONS."""
    parts = dict(parameters)
    known = {django: str(parts.pop(name, "")) for django, name in _DJANGO_NAMES.items()}
    return {**known, "OPTIONS": parts}


def session_options(**settings: str | int) -> str:
    """Server settings of a session, as the value of the connection parameter `options`."""
    escaped = {name: str(value).replace(" ", "\\ ") for name, value in settings.items()}
    return " ".join(f"-c {name}={value}" for name, value in escaped.items())
