from __future__ import annotations

from typing import Any

from config.api.fields import Text
from messaging.names import validate_edges, validate_name


class Name(Text):
    """What is shown as a name, trimmed, of characters that a name may hold (`messaging.names`)."""

    def __init__(self, *, max_length: int, **kwargs: Any) -> None:
        super().__init__(trim=True, max_length=max_length, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        validate_name(name)
        validate_edges(data, name)
        return name
