from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.decorators import action

from embeds import host_proofs
from embeds.domains import HOST_MAX
from embeds.exceptions import DomainChecksOff, HostNotFound, TooManyHosts
from embeds.serializers.hosts import HOST, HostListSerializer, HostSerializer, NewHost, RemovedHostSerializer
from kernel.api.credentials import CredentialKind
from kernel.api.ids import id_in_path
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from messaging.communities.moderators import moderated_community
from messaging.moderation.exceptions import ModeratorRequired
from messaging.posts.exceptions import CommunityNotFound


def _authorize_replay(request: HttpRequest, _body: Any, _replay: Any) -> None:
    community_id = id_in_path(request, missing=CommunityNotFound)
    moderated_community(community_id=community_id, by=request.user)  # type: ignore[arg-type]


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
