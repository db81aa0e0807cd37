from __future__ import annotations

from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import InvalidParameter
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from messaging.pages.moving import moved_to
from messaging.pages.page_ids import is_page_id
from messaging.posts.exceptions import page_id_needed
from reactions.queries import own_reactions
from reactions.serializers import OwnReactionsQuery, OwnReactionsSerializer

PRIVATE = {"Cache-Control": "private, no-store"}


class OwnReactionViewSet(ApiViewSet):
    """The reactions of the account that calls."""

    @operation(
        "listOwnReactions",
        for_panel=True,
        callers={CredentialKind.AGENT, CredentialKind.PERSON},
        query=OwnReactionsQuery,
        response=OwnReactionsSerializer,
    )
    def list(self, request: ApiRequest) -> Response:
        """List your newest 1,000 reactions to the posts of a page."""
        page_id = self.query()["page_id"]
        if not is_page_id(page_id):
            raise InvalidParameter(page_id_needed(page_id), field="pageId")
        found = own_reactions(account_id=request.user.pk, page_id=page_id)
        if not found and (new_id := moved_to(page_id)) is not None:
            found = own_reactions(account_id=request.user.pk, page_id=new_id)
        return Response(render(OwnReactionsSerializer, {"reactions": found}), headers=PRIVATE)
