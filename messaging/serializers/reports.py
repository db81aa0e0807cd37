"""The body and the response of reportMessage."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.api.fields import Choice, Text
from kernel.api.serializers import BodySerializer
from messaging.models import ReportReason
from messaging.models.report import NOTE_MAX


class NewReport(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "spam", "note": "The same advertisement as yesterday."}

    reason = Choice(choices=ReportReason.values, help_text="What is wrong with the post.")
    note = Text(
        max_length=NOTE_MAX, trim=True, required=False, allow_blank=True, default="", help_text="More, for moderators."
    )


class ReportedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"reported": True}

    reported = serializers.BooleanField(help_text="Always true.")
