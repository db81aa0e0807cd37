"""Bodies and responses of the hosts that a community proves."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from embeds.domains import HOST_MAX
from embeds.models import HostState
from embeds.models.host_proof import LABEL, VALUE
from kernel.api.fields import Text
from kernel.api.serializers import BodySerializer

HOST = "blog.example"
EXAMPLE_VALUE = f"{VALUE}0123456789abcdef0123456789abcdef"


class NewHost(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"host": HOST}
    host = Text(max_length=HOST_MAX, help_text="Without scheme, port and path.")


class HostSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "host": HOST,
        "recordName": f"{LABEL}.{HOST}",
        "recordValue": EXAMPLE_VALUE,
        "proved": False,
        "provedAt": None,
        "checkedAt": None,
        "checking": False,
        "state": HostState.UNSEEN.value,
        "found": [],
    }
    communityId = serializers.UUIDField(source="community_id")
    host = serializers.CharField(help_text="Without `www.`.")
    recordName = serializers.CharField(source="record_name", help_text="Of the TXT record to add.")
    recordValue = serializers.CharField(source="record_value", help_text="Its value.")
    proved = serializers.BooleanField(source="is_proved", help_text="The record was found in the last 14 days.")
    provedAt = serializers.DateTimeField(source="proved_at", allow_null=True, help_text="Since when.")
    checkedAt = serializers.DateTimeField(source="checked_at", allow_null=True, help_text="The last look.")
    checking = serializers.BooleanField(source="is_checking", help_text="Another look was asked for.")
    state = serializers.ChoiceField(choices=HostState.values, help_text="What the last look found.")
    found = serializers.ListField(
        child=serializers.CharField(), source="values", help_text="What it found instead of the value."
    )


class HostListSerializer(serializers.Serializer[Any]):
    hosts = HostSerializer(many=True, help_text="By name.")


class RemovedHostSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"host": HOST, "removed": True}
    communityId = serializers.UUIDField()
    host = serializers.CharField(help_text="As it was stored.")
    removed = serializers.BooleanField(help_text="Always true.")
