"""The times of rows as a page shows them: a decision does not apply to what came later.

The form of the page sends the `updated_at` of each, the time of its content, as the field `seen-ID`
(`templates/admin/shared/seen.html`), and its `decided_at`, the time of the decision to undo, as `decided-ID`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from kernel.api.times import parse_time


def seen_name(pk: UUID) -> str:
    return f"seen-{pk}"


def seen_at(sent: Mapping[str, str], pk: UUID) -> datetime | None:
    """The time of a row in a form; None if it has none, as those of an earlier release."""
    return parse_time(sent.get(seen_name(pk), ""))


def decided_name(pk: UUID) -> str:
    return f"decided-{pk}"


def decided_at(sent: Mapping[str, str], pk: UUID) -> datetime | None:
    """As `seen_at`."""
    return parse_time(sent.get(decided_name(pk), ""))


def times_of(sent: Mapping[str, str], pk: UUID) -> dict[str, datetime | None]:
    """Both, as `AdminAction.carry_out` takes them."""
    return {"seen_at": seen_at(sent, pk), "decided_at": decided_at(sent, pk)}
