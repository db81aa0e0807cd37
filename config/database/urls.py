"""Connection settings for PostgreSQL (`settings.DATABASES`)."""

from typing import Any

from psycopg.conninfo import conninfo_to_dict

# Of an idle transaction, in milliseconds, where statements have no timeout: a command that is frozen in a transaction
# must not stop the readers of the change log for ever.
COMMAND_IDLE_TIMEOUT = 60_000
_DJANGO_NAMES = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}


def database(database_url: str, *, statement_timeout: int) -> dict[str, Any]:
    """The entry of DATABASES for a database address. `statement_timeout` in milliseconds; 0 is no limit."""
    settings = {
        "ENGINE": "config.database.backend",
        **connection_settings(database_url),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,
    }
    settings["OPTIONS"] |= {
        "application_name": "community-messaging",
        "connect_timeout": 3,
        # A statement is prepared on the server when a connection runs it the second time. A generic plan serves any
        # values: with custom plans PostgreSQL would plan each call for the few pages that have many more posts.
        "prepare_threshold": 1,
        "options": session_options(
            default_transaction_isolation="read committed",
            plan_cache_mode="force_generic_plan",
            statement_timeout=statement_timeout,
            lock_timeout=2000,
            idle_in_transaction_session_timeout=2 * statement_timeout or COMMAND_IDLE_TIMEOUT,
            client_connection_check_interval=2000,
        ),
    }
    return settings


def connection_settings(database_url: str) -> dict[str, Any]:
    """A database address as Django's settings. Parameters of the address without a Django name become OPTIONS."""
    parts = conninfo_to_dict(database_url)
    known = {django: str(parts.pop(name, "")) for django, name in _DJANGO_NAMES.items()}
    return {**known, "OPTIONS": parts}


def session_options(**settings: str | int) -> str:
    """Server settings of a session, as the value of the connection parameter `options`."""
    escaped = {name: str(value).replace(" ", "\\ ") for name, value in settings.items()}
    return " ".join(f"-c {name}={value}" for name, value in escaped.items())
