"""What has changed in the columns of a row, as text for the history of the admin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

SHOWN_MAX = 20
VALUE_MAX = 60


def describe_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """`read only (no → yes), blocked words (+spam, −ham)`, for the columns of `after`."""
    return ", ".join(
        f"{column.replace('_', ' ')} ({_difference(before.get(column), value)})" for column, value in after.items()
    )


def _difference(before: Any, after: Any) -> str:
    if not isinstance(after, list):
        return f"{_text(before)} → {_text(after)}"
    if isinstance(before, str):
        return f"{_text(before)} → {', '.join(_some([_text(one) for one in after]))}"
    before = before or []
    added = [f"+{_text(one)}" for one in after if one not in before]
    removed = [f"−{_text(one)}" for one in before if one not in after]
    # Each has its limit: many additions do not hide the removals.
    return ", ".join([*_some(added), *_some(removed)]) or "another order"


def _some(parts: list[str]) -> Iterable[str]:
    rest = len(parts) - SHOWN_MAX
    sign = parts[0][0] if parts and parts[0][0] in "+−" else ""
    return [*parts[:SHOWN_MAX], f"{rest} more {sign}".rstrip()] if rest > 0 else parts


def _text(value: Any) -> str:
    """Without the mark that separates a decision from its reason."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace(": ", ":")[:VALUE_MAX].rstrip(": ") if value not in {None, ""} else "nothing"
