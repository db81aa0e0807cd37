from __future__ import annotations

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin

from embeds.exceptions import EmbedDisabled, EmbedNotFound
from embeds.filters import EmbedFilter
from embeds.models import Embed
from embeds.models.embed import EmbedQuerySet
from embeds.serializers.inputs import BlacklistBody, EmbedChanges, NewEmbed
from embeds.serializers.outputs import (
    BlacklistSerializer,
    EmbedInstanceSerializer,
    EmbedListSerializer,
)
from embeds.services import create_embed, delete_embed, owned_embed, set_blacklist, update_embed
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import NotOwner
from kernel.api.fields import ListQuery
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.viewsets import ApiViewSet
from messaging.moderation.exceptions import ModeratorRequired
from messaging.posts.exceptions import CommunityNotFound
from messaging.posts.serializers import DeletedSerializer

OWNERS = {CredentialKind.SIGNED_IN}
NOT_YOURS = (EmbedNotFound, NotOwner)
# OpenAPI links: operations that take the id of the new embed.
NEXT = {
    "getEmbedConfig": {"serviceId": "id"},
    "ingestAnalyticsEvent": {
        "body.serviceId": "id",
        "body.event": "=trigger_click",
        "body.pageUrl": "=https://example.com/",
    },
    "getEmbedInstance": {"id": "id"},
    "updateEmbedInstance": {"id": "id"},
    "deleteEmbedInstance": {"id": "id"},
    "getEmbedAnalytics": {"id": "id"},
    "getEmbedBlacklist": {"id": "id"},
    "putEmbedBlacklist": {"id": "id"},
}


class EmbedViewSet(ListModelMixin, ApiViewSet):
    """A site owner's embeds."""

    queryset = Embed.objects.live()
    serializer_class = EmbedInstanceSerializer
    filterset_class = EmbedFilter
    list_name, results_key, cursor_owner = "embeds", "instances", "owner"

    @operation(
        "listEmbedInstances",
        callers=OWNERS,
        query=ListQuery,
        response=EmbedListSerializer,
    )
    def list(self, request: ApiRequest) -> HttpResponse:  # type: ignore[override]
        """List your embeds, newest first."""
        return super().list(request)

    def get_queryset(self) -> EmbedQuerySet:
        owned: EmbedQuerySet = super().get_queryset()  # type: ignore[assignment]
        return owned.owned_by(self.request.user.pk)

    @operation(
        "createEmbedInstance",
        callers=OWNERS,
        body=NewEmbed,
        response=EmbedInstanceSerializer,
        status=201,
        errors=(CommunityNotFound, ModeratorRequired),
        response_headers=("Location",),
        links=NEXT,
    )
    def create(self, request: ApiRequest) -> Response:
        """Create an embed."""
        embed = create_embed(owner=request.user, **self.body())
        location = {"Location": f"/api/embeds/instances/{embed.pk}"}
        return Response(self.represent(embed), status=201, headers=location)

    @operation("getEmbedInstance", callers=OWNERS, response=EmbedInstanceSerializer, errors=NOT_YOURS)
    def retrieve(self, request: ApiRequest, id: str) -> Response:
        """Get one of your embeds."""
        return Response(self.represent(self.owned()))

    @operation(
        "updateEmbedInstance",
        callers=OWNERS,
        body=EmbedChanges,
        response=EmbedInstanceSerializer,
        errors=(*NOT_YOURS, CommunityNotFound, ModeratorRequired, EmbedDisabled),
    )
    def update(self, request: ApiRequest, id: str) -> Response:
        """Change an embed."""
        embed = self.owned()
        return Response(self.represent(update_embed(embed_id=embed.pk, owner=request.user, **self.body())))

    @operation("deleteEmbedInstance", callers=OWNERS, response=DeletedSerializer, errors=NOT_YOURS)
    def destroy(self, request: ApiRequest, id: str) -> Response:
        """Delete an embed with its webhooks. The posts written through it stay."""
        embed_id = self.path_id(EmbedNotFound)
        delete_embed(embed_id=embed_id, owner=request.user)
        return Response({"id": embed_id, "deleted": True})

    @action(detail=True)
    @operation("getEmbedBlacklist", callers=OWNERS, response=BlacklistSerializer, errors=NOT_YOURS)
    def blacklist(self, request: ApiRequest, id: str) -> Response:
        """List the domains where the embed must not run."""
        return Response({"domains": self.owned().domain_blacklist})

    @blacklist.mapping.put
    @operation("putEmbedBlacklist", callers=OWNERS, body=BlacklistBody, response=BlacklistSerializer, errors=NOT_YOURS)
    def replace_blacklist(self, request: ApiRequest, id: str) -> Response:
        """Replace the domains where the embed must not run, whitelisted or not."""
        embed = set_blacklist(embed_id=self.owned().pk, owner=request.user, **self.body())
        return Response({"domains": embed.domain_blacklist})

    def owned(self) -> Embed:
        """Return the embed of the path; raises EmbedNotFound (404) or NotOwner (403)."""
        return owned_embed(embed_id=self.path_id(EmbedNotFound), owner=self.request.user)
