"""Plans of statements. Generic ones are those that the service uses: prepared without knowing the values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection
from psycopg.sql import SQL, Literal


def generic_plan(statement: str, values: dict[str, Any]) -> dict[str, Any]:
    """Execute the generic plan of a statement with named parameters, inside a transaction, and return it."""
    used = {name: value for name, value in values.items() if f"%({name})s" in statement}
    numbered = statement % {name: f"${number}" for number, name in enumerate(used, start=1)}
    arguments = SQL("({})").format(SQL(", ").join(map(Literal, used.values()))) if used else SQL("")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE probe AS {numbered}")
        try:
            execute = SQL("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE probe{}").format(arguments)
            cursor.execute(execute.as_string(connection.connection))
            (output,) = cursor.fetchone()
        finally:
            cursor.execute("DEALLOCATE probe")
    return _plan(output)


def plan_of(statement: str) -> dict[str, Any]:
    """Execute a statement that names its values, and return its plan."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
        (output,) = cursor.fetchone()
    return _plan(output)


def _plan(output: Any) -> dict[str, Any]:
    plan: dict[str, Any] = (json.loads(output) if isinstance(output, str) else output)[0]["Plan"]
    return plan


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from nodes(inner)


def rows_read(plan: dict[str, Any], *tables: str) -> int:
    """The number of rows that a plan reads from these tables."""
    return round(
        sum(
            (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            for node in nodes(plan)
            if node.get("Relation Name") in tables
        )
    )


def indexes(plan: dict[str, Any]) -> set[str]:
    """The indexes that a plan has used."""
    return {node["Index Name"] for node in nodes(plan) if "Index Name" in node and node["Actual Loops"]}
