"""Rows of the same kind as those that a test changes, and that must not change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db.models import Model

Unchanged = Callable[..., Any]
# The requests of a bystander change these.
MAY_CHANGE = {"last_used_at", "last_login"}


def _values(row: Model) -> dict[str, Any]:
    values = type(row)._base_manager.filter(pk=row.pk).values().get()
    return {name: value for name, value in values.items() if name not in MAY_CHANGE}


@pytest.fixture
def unchanged(db: None) -> Iterator[Unchanged]:
    """Takes rows, which are compared at the end of the test; returns the first one."""
    before: list[tuple[Model, dict[str, Any]]] = []

    def keep(*rows: Model) -> Model:
        before.extend((row, _values(row)) for row in rows)
        return rows[0]

    yield keep
    assert before, "no row to compare"
    for row, values in before:
        assert _values(row) == values
