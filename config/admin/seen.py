"""The `updated_at` of rows as a page shows them: a decision does not apply to content that came later.

The form of the page sends each as the field `seen-ID` (`templates/admin/shared/seen.html`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from config.api.times import parse_time


def seen_name(pk: UUID) -> str:
    return f"seen-{pk}"


def seen_at(sent: Mapping[str, str], pk: UUID) -> datetime | None:
    """The time of a row in a form; None if it has none, as those of an earlier release."""
    return parse_time(sent.get(seen_name(pk), ""))
