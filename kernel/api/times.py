"""Times in RFC 3339, in bodies and forms."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from rest_framework import serializers

RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)\Z", re.ASCII | re.IGNORECASE)


def parse_time(text: str) -> datetime | None:
    """To the microsecond; None for other text."""
    if not RFC_3339.match(text):
        return None
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None


class Time(serializers.DateTimeField):
    """A strict field: DRF's own also accepts a time without an offset, and other formats."""

    default_error_messages = {"invalid": "Not a time in RFC 3339, such as 2026-05-01T12:00:00.000000Z."}

    def to_internal_value(self, data: Any) -> datetime:
        moment = parse_time(data) if isinstance(data, str) else None
        if moment is None:
            self.fail("invalid")
        return moment
