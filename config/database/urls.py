"""How the service's sessions with PostgreSQL are set up."""

from typing import Any

from psycopg.conninfo import conninfo_to_dict

_DJANGO_NAMES = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}


def connection_settings(database_url: str) -> dict[str, Any]:
    """A database address as Django writes it. Parameters of the address that Django does not know become OPTIONS."""
    parts = conninfo_to_dict(database_url)
    known = {django: str(parts.pop(name, "")) for django, name in _DJANGO_NAMES.items()}
    return {**known, "OPTIONS": parts}


def session_options(**settings: str | int) -> str:
    """Server settings for each session, as the connection parameter `options` takes them."""
    escaped = {name: str(value).replace(" ", "\\ ") for name, value in settings.items()}
    return " ".join(f"-c {name}={value}" for name, value in escaped.items())
