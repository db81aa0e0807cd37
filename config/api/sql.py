"""How a statement that is written, not built, is run: errors come as Django's, rows as tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

Values = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]


def fetch_one(statement: str, values: Values = ()) -> Row | None:
    """The first row, None where there is none."""
    row: Row | None = _run(statement, values).fetchone()
    return row


def fetch_all(statement: str, values: Values = ()) -> list[Row]:
    return list(_run(statement, values).fetchall())


def execute(statement: str, values: Values = ()) -> int:
    """The number of rows it changed."""
    return int(_run(statement, values).rowcount)


def _run(statement: str, values: Values) -> Any:
    database: Any = connections[DEFAULT_DB_ALIAS]
    return database.run(statement, values)
