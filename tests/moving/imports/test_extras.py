"""Values of our own exports that are not those of createMessage are refused, each field on its own."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from moving.imports.extras import checked

NOTE = {"tagType": "note"}


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [1e308, 1e16, 5e-324, 2**63, nested(31), nested(60)], ids=str)
def test_a_number_or_a_depth_that_the_api_refuses_is_refused(value: Any) -> None:
    columns, refused = checked(NOTE | {"payload": {"n": value}, "contextAnchor": {"n": value}})
    assert set(refused) == {"payload", "contextAnchor"}
    assert columns == {"tag_type": "note"}


@pytest.mark.parametrize("value", [9e15, 1e-5, -(2**63), 2**63 - 1, nested(30)], ids=str)
def test_a_value_that_the_api_takes_is_taken(value: Any) -> None:
    read = orjson.loads(orjson.dumps({"n": value}))
    columns, refused = checked(NOTE | {"payload": read, "contextAnchor": read})
    assert (columns["payload"], columns["context_anchor"], refused) == (read, read, [])
