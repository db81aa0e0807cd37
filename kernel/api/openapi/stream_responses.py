"""The successful responses of a stream in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers


class StreamAddressSerializer(serializers.Serializer[Any]):
    streamUrl = serializers.URLField(help_text="The origin that serves streams.")


EVENTS = """\
Server-sent events: `event` is the type, `data` the item as in the list, `id` the cursor after it. `event: resync` \
(`data` is `{"id": "<cursor>"}`): changes before this cursor are no longer stored; read the current state.\
"""
STREAM_RESPONSES: dict[Any, Any] = {
    (200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR, description=EVENTS),
    307: OpenApiResponse(StreamAddressSerializer, description="The stream is at `Location`, on `streamUrl`."),
}
