"""The embeds of a community, for its moderators."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.decorators import action

from embeds.exceptions import EmbedNotFound
from embeds.models import Embed
from embeds.serializers.inputs import EndingReason
from embeds.serializers.outputs import CommunityEmbedListSerializer, CommunityEmbedSerializer, EndedEmbedSerializer
from embeds.services import end_embed
from kernel.api.credentials import CredentialKind
from kernel.api.fields import ListQuery
from kernel.api.ids import id_in_path
from kernel.api.operations import operation
from kernel.api.pagination import envelope
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from kernel.writes.idempotency import Replay
from messaging.communities.moderators import moderated_community
from messaging.moderation.exceptions import ModeratorRequired
from messaging.posts.exceptions import CommunityNotFound

PERSON = {CredentialKind.PERSON}


def _authorize_replay(request: HttpRequest, _body: Any, _replay: Replay) -> None:
    community_id = id_in_path(request, missing=CommunityNotFound)
    moderated_community(community_id=community_id, by=request.user)  # type: ignore[arg-type]


class CommunityEmbedViewSet(ApiViewSet):
    @action(detail=True, methods=["get"])
    @operation(
        "listCommunityEmbeds",
        callers=PERSON,
        query=ListQuery,
        response=CommunityEmbedListSerializer,
        errors=(CommunityNotFound, ModeratorRequired),
    )
    def embeds(self, request: ApiRequest, id: str) -> Response:
        """List the embeds of a community that you moderate, newest first."""
        community_id = self.path_id(CommunityNotFound)
        moderated_community(community_id=community_id, by=request.user)
        page = self.page("community-embeds", self.query(), community=community_id)
        rows, next_cursor = page.paginate(Embed.objects.of_community(community_id))
        embeds = [render(CommunityEmbedSerializer, row) for row in rows]
        return Response(envelope("embeds", embeds, next_cursor))

    @action(detail=True, methods=["post"], url_path="embeds/<str:embedId>/end")
    @operation(
        "endCommunityEmbed",
        callers=PERSON,
        body=EndingReason,
        response=EndedEmbedSerializer,
        errors=(CommunityNotFound, ModeratorRequired, EmbedNotFound),
        authorize_replay=_authorize_replay,
    )
    def end(self, request: ApiRequest, id: str, embedId: str) -> Response:  # noqa: N803  of the path
        """Delete an embed of a community that you moderate. Its posts stay."""
        embed_id = self.path_id(EmbedNotFound, "embedId")
        end_embed(community_id=self.path_id(CommunityNotFound), embed_id=embed_id, by=request.user, **self.body())
        return Response({"id": embed_id, "ended": True})
