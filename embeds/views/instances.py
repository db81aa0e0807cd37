from __future__ import annotations

from config.api.callers import CallerKind
from config.api.cursors import envelope
from config.api.fields import ListQuery
from config.api.operations import operation
from config.api.responses import Response
from config.api.views import ApiRequest, ApiView
from embeds.answers import BlacklistRecord, DeletedEmbedRecord, EmbedInstanceRecord, EmbedListRecord
from embeds.errors import EmbedDisabled, NotOwner
from embeds.models import Embed
from embeds.records import instance_record
from embeds.serializers import BlacklistBody, EmbedChanges, NewEmbed
from embeds.services import create_embed, delete_embed, owned_embed, set_blacklist, update_embed
from messaging.errors import CommunityNotFound, EmbedNotFound

OWNERS = {CallerKind.SIGNED_IN}
NOT_YOURS = (EmbedNotFound, NotOwner)
# What can be done with an embed, by its id.
NEXT = {
    "getEmbedConfig": {"service_id": "id"},
    "getEmbedInstance": {"id": "id"},
    "updateEmbedInstance": {"id": "id"},
    "deleteEmbedInstance": {"id": "id"},
    "getEmbedAnalytics": {"id": "id"},
    "getEmbedBlacklist": {"id": "id"},
    "putEmbedBlacklist": {"id": "id"},
}


class InstancesView(ApiView):
    @operation("listEmbedInstances", callers=OWNERS, query=ListQuery, answer=EmbedListRecord)
    def get(self, request: ApiRequest) -> Response:
        """List your embeds, newest first."""
        owner_id = request.caller.account.pk
        page = self.page("embeds", self.query(ListQuery), owner=owner_id)
        rows, next_cursor = page.cut(Embed.objects.live().owned_by(owner_id))
        return Response(envelope("instances", [instance_record(embed) for embed in rows], next_cursor))

    @operation(
        "createEmbedInstance",
        callers=OWNERS,
        body=NewEmbed,
        answer=EmbedInstanceRecord,
        status=201,
        errors=(CommunityNotFound,),
        links=NEXT,
    )
    def post(self, request: ApiRequest) -> Response:
        """Create an embed. `embedCode` is the script element to paste into your pages."""
        embed = create_embed(owner=request.caller.account, **self.body(NewEmbed))
        location = {"Location": f"/api/embeds/instances/{embed.pk}"}
        return Response(instance_record(embed), status=201, headers=location)


class InstanceView(ApiView):
    @operation("getEmbedInstance", callers=OWNERS, answer=EmbedInstanceRecord, errors=NOT_YOURS)
    def get(self, request: ApiRequest, id: str) -> Response:
        """One of your embeds."""
        embed = owned_embed(embed_id=self.path_id(EmbedNotFound), owner=request.caller.account)
        return Response(instance_record(embed))

    @operation(
        "updateEmbedInstance",
        callers=OWNERS,
        body=EmbedChanges,
        answer=EmbedInstanceRecord,
        errors=(*NOT_YOURS, CommunityNotFound, EmbedDisabled),
    )
    def put(self, request: ApiRequest, id: str) -> Response:
        """Change the fields given."""
        embed_id, owner = self.path_id(EmbedNotFound), request.caller.account
        owned_embed(embed_id=embed_id, owner=owner)
        return Response(instance_record(update_embed(embed_id=embed_id, owner=owner, **self.body(EmbedChanges))))

    @operation("deleteEmbedInstance", callers=OWNERS, answer=DeletedEmbedRecord, errors=NOT_YOURS)
    def delete(self, request: ApiRequest, id: str) -> Response:
        """Delete an embed. The posts that were written through it stay."""
        embed_id = self.path_id(EmbedNotFound)
        delete_embed(embed_id=embed_id, owner=request.caller.account)
        return Response({"id": embed_id, "deleted": True})


class BlacklistView(ApiView):
    @operation("getEmbedBlacklist", callers=OWNERS, answer=BlacklistRecord, errors=NOT_YOURS)
    def get(self, request: ApiRequest, id: str) -> Response:
        """The domains where the embed must not run."""
        embed = owned_embed(embed_id=self.path_id(EmbedNotFound), owner=request.caller.account)
        return Response({"domains": embed.domain_blacklist})

    @operation("putEmbedBlacklist", callers=OWNERS, body=BlacklistBody, answer=BlacklistRecord, errors=NOT_YOURS)
    def put(self, request: ApiRequest, id: str) -> Response:
        """Replace the domains where the embed must not run. They beat the whitelist."""
        embed_id, owner = self.path_id(EmbedNotFound), request.caller.account
        owned_embed(embed_id=embed_id, owner=owner)
        embed = set_blacklist(embed_id=embed_id, owner=owner, **self.body(BlacklistBody))
        return Response({"domains": embed.domain_blacklist})
