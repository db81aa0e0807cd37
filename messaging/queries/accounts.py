from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def account_from_row(row: Sequence[Any]) -> dict[str, Any]:
    """The contract's Account, from (id, name, handle, kind)."""
    return {"id": row[0], "name": row[1], "handle": row[2], "kind": row[3]}
