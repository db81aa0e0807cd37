"""The checks of agents on writes of posts, before the transaction and before a replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpRequest

from kernel.api.credentials import Credential
from kernel.api.ids import id_in_path, is_id
from kernel.writes.idempotency import Replay
from messaging.exceptions import MessageNotFound
from messaging.models import Message
from messaging.scopes import scopes_of
from messaging.services.bans import refuse_banned
from messaging.services.own_posts import require_rights

WRITING_SCOPES = frozenset({"post", "reply", "quote"})


def scopes_of_body(data: Mapping[str, Any]) -> frozenset[str]:
    """`reply` for a body or post with `parentId`, `quote` for one with `quoteId`, otherwise `post`."""
    return frozenset(scopes_of(parent_id=data.get("parentId"), quote_id=data.get("quoteId")))


def authorize(credential: Credential, body: Mapping[str, Any]) -> None:
    """An agent that is limited to communities must name one of them. Validation refuses a malformed id later."""
    community_id = body.get("communityId")
    if community_id is None or is_id(community_id):
        credential.require_community(None if community_id is None else UUID(community_id))


def authorize_replay(request: HttpRequest, _body: Mapping[str, Any], replay: Replay) -> None:
    """Checks the scopes and the community of the stored post: the body of a retry may differ."""
    credential: Credential = request.auth  # type: ignore[attr-defined]
    post = orjson.loads(replay.body)
    community_id = post["communityId"] and UUID(post["communityId"])
    credential.require_scopes(scopes_of_body(post))
    credential.require_community(community_id)
    if community_id is not None:
        refuse_banned(communities=[community_id], auth=credential)


def authorize_edit_replay(request: HttpRequest, _body: Mapping[str, Any], _replay: Replay) -> None:
    """Checks the scopes and the community of the post in the path."""
    post = _own_post(request)
    if post.community_id is not None:
        refuse_banned(communities=[post.community_id], auth=request.auth)  # type: ignore[attr-defined]


def authorize_deletion_replay(request: HttpRequest, _body: Mapping[str, Any], _replay: Replay) -> None:
    """The same, but a banned account may delete its posts."""
    _own_post(request)


def _own_post(request: HttpRequest) -> Message:
    post = Message.objects.filter(pk=id_in_path(request, missing=MessageNotFound)).first()
    if post is None:
        raise MessageNotFound
    require_rights(auth=request.auth, post=post)  # type: ignore[attr-defined]
    return post
