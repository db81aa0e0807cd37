from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class TagType(StrEnum):
    CLAIM = "claim"
    EVIDENCE = "evidence"
    QUESTION = "question"
    ANSWER = "answer"
    CORRECTION = "correction"
    REVIEW = "review"
    PREDICTION = "prediction"
    POLL = "poll"
    SUMMARY = "summary"
    HIGHLIGHT = "highlight"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class SmartTag:
    """A kind of post. `description` is one sentence on its use; `example` is valid by `payload_schema`."""

    type: TagType
    title: str
    description: str
    payload_schema: dict[str, Any]
    example: dict[str, Any]

    @property
    def is_open(self) -> bool:
        """Whether authors choose the property names of the payload."""
        return self.payload_schema.get("additionalProperties", True) is not False
