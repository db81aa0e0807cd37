"""Bodies and responses of the hosts that a community proves."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.decorators import action

from embeds import host_proofs
from embeds.domains import HOST_MAX
from embeds.exceptions import DomainChecksOff, HostNotFound, TooManyHosts
from embeds.models import LABEL, VALUE, HostState
from kernel.api.context import ApiContext, ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.fields import Text
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.serializers import BodySerializer, render
from kernel.api.viewsets import ApiViewSet
from messaging.communities.moderators import moderated_community
from messaging.moderation.exceptions import ModeratorRequired
from messaging.posts.exceptions import CommunityNotFound

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


def _authorize_replay(api: ApiContext, _replay: Any) -> None:
    moderated_community(community_id=api.path_id(CommunityNotFound), by=api.credential.user)


REFUSED = (CommunityNotFound, ModeratorRequired)
BY_MODERATORS: dict[str, Any] = {"callers": {CredentialKind.PERSON}}
WRITE = BY_MODERATORS | {"authorize_replay": _authorize_replay}
PATH = {"host": {"type": "string", "pattern": f"^[A-Za-z0-9._-]{{1,{HOST_MAX}}}$", "examples": [HOST]}}


class HostViewSet(ApiViewSet):
    """The hosts that a community proves."""

    @action(detail=True, methods=["get"], url_path="hosts")
    @operation("listHosts", **BY_MODERATORS, response=HostListSerializer, errors=REFUSED)
    def hosts(self, request: ApiRequest, id: str) -> Response:
        """List the hosts that a community proves or wants to prove, with their TXT records."""
        hosts = host_proofs.hosts_of(community_id=self.path_id(CommunityNotFound), by=request.user)
        return Response(render(HostListSerializer, {"hosts": hosts}))

    @hosts.mapping.post
    @operation(
        "addHost", **WRITE, body=NewHost, response=HostSerializer, errors=(*REFUSED, DomainChecksOff, TooManyHosts)
    )
    def add(self, request: ApiRequest, id: str) -> Response:
        """Get a TXT record by which the community proves a host."""
        community_id = self.path_id(CommunityNotFound)
        return _rendered(host_proofs.add_host(community_id=community_id, by=request.user, **self.body()))

    @action(detail=True, methods=["post"], url_path="hosts/<str:host>/check")
    @operation(
        "checkHost",
        **WRITE,
        path=PATH,
        response=HostSerializer,
        errors=(*REFUSED, HostNotFound, DomainChecksOff),
        example={"checking": True},
    )
    def check(self, request: ApiRequest, id: str, host: str) -> Response:
        """Look for the TXT record soon, at most every 15 seconds. listHosts has what was found."""
        community_id = self.path_id(CommunityNotFound)
        return _rendered(host_proofs.ask_for_check(community_id=community_id, host=host, by=request.user))

    @action(detail=True, methods=["delete"], url_path="hosts/<str:host>")
    @operation("removeHost", **WRITE, path=PATH, response=RemovedHostSerializer, errors=(*REFUSED, HostNotFound))
    def remove(self, request: ApiRequest, id: str, host: str) -> Response:
        """End the proof of a host."""
        community_id = self.path_id(CommunityNotFound)
        removed = host_proofs.remove_host(community_id=community_id, host=host, by=request.user)
        return Response({"communityId": community_id, "host": removed.host, "removed": True})


def _rendered(proof: Any) -> Response:
    return Response(render(HostSerializer, proof))
