from __future__ import annotations

from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from messaging.posts.embed_views import embed_errors
from messaging.posts.exceptions import InvalidUrlError
from moving.old_links import find_post
from moving.serializers import ImportedPostBody, ImportedPostSerializer


class ImportedPostViewSet(ApiViewSet):
    @operation(
        "getImportedPost",
        callers={CredentialKind.PUBLIC},
        body=ImportedPostBody,
        # The loader's request, which thus needs no preflight. As a body, no server logs the address of the page.
        public_body=True,
        response=ImportedPostSerializer,
        errors=(InvalidUrlError, *embed_errors()),
    )
    def create(self, request: ApiRequest) -> Response:
        """Find the post that a link to a comment of an earlier system means, by its anchor on the page."""
        body = self.body()
        return self.read_uncached(lambda: render(ImportedPostSerializer, {"message_id": find_post(**body)}))
