from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson

from config.api.callers import CallerKind
from config.api.cursors import Page, envelope
from config.api.errors import AgentCommunityNotAllowed, ContentTooLong, InvalidInput, PayloadTooLarge
from config.api.idempotency import Replay
from config.api.ids import is_id
from config.api.operations import operation
from config.api.responses import Response
from config.api.unit import Question
from config.api.views import ApiRequest, ApiView
from messaging import errors, listing, records
from messaging.cache_tags import message_tag, page_tag
from messaging.page_ids import is_page_id
from messaging.rules import Draft
from messaging.serializers import MessageListRecord, MessageRecord, MessagesQuery, NewMessage
from messaging.services import place
from messaging.services.moving import moved_to
from messaging.services.posting import create_message


def scopes_needed(data: Mapping[str, Any]) -> frozenset[str]:
    """A reply needs `reply`, a quote `quote`, both need both; anything else is a post."""
    named = {"reply": "parentId", "quote": "quoteId"}
    return frozenset(scope for scope, field in named.items() if data.get(field) is not None) or frozenset({"post"})


class MessagesView(ApiView):
    @operation("listMessages", callers={CallerKind.PUBLIC}, query=MessagesQuery, answer=MessageListRecord)
    def get(self, request: ApiRequest) -> Response:
        """List the posts of a page, or the replies to one of them, newest first.

        An answer of more than one post is at most 2 MiB: `hasMore` may be true with fewer posts than `limit`.
        """
        query = self.query(MessagesQuery)
        if not is_page_id(query["page_id"]):
            raise InvalidInput(field="pageId", details="Not a page id.")
        # With top replies or without it is the same list, and one cursor leads on in both.
        page = self.page("messages", query, include_top_reply=False)
        asked = page_tag(query["page_id"])
        try:
            return self.read(lambda: _listed(query, page), asked)
        except PageMoved as moved:
            there = {**query, "page_id": moved.page_id}
            return self.read(lambda: _listed(there, page), asked, page_tag(moved.page_id))

    def check_rights(self) -> None:
        """A limited agent names one of its communities. What is no id at all is left to the fields."""
        named = self.sent.get("communityId")
        if named is None or is_id(named):
            self.request.caller.require_community(None if named is None else UUID(named))

    def check_replay(self, replay: Replay) -> None:
        """The community of the stored answer counts, which another body may not name."""
        community_id = orjson.loads(replay.body)["communityId"]
        self.request.caller.require_community(community_id and UUID(community_id))

    def question(self) -> Question | None:
        return place.question_of(self.sent)

    @operation(
        "createMessage",
        callers={CallerKind.AGENT, CallerKind.PERSON},
        scopes={"post", "reply", "quote"},
        scopes_needed=scopes_needed,
        body=NewMessage,
        answer=MessageRecord,
        status=201,
        headers=("x-service-embed-id",),
        links={"getMessage": {"id": "id"}, "listReactions": {"id": "id"}},
        errors=(
            AgentCommunityNotAllowed,
            ContentTooLong,
            PayloadTooLarge,
            errors.CommunityForbids,
            errors.CommunityMismatch,
            errors.CommunityNotFound,
            errors.ContentBlocked,
            errors.EmptyMessage,
            errors.InvalidPayload,
            errors.ParentNotFound,
            errors.QuoteNotFound,
            errors.UnknownPage,
            *errors.SOURCE_ERRORS,
        ),
    )
    def post(self, request: ApiRequest) -> Response:
        """Write a post, a reply (`parentId`) or a quote (`quoteId`)."""
        draft = Draft(
            author_kind=request.caller.account.kind,
            embed_id=request.META.get("HTTP_X_SERVICE_EMBED_ID"),
            origin=request.META.get("HTTP_ORIGIN"),
            **self.body(NewMessage),
        )
        record = create_message(caller=request.caller, unit=request.unit, draft=draft)
        return Response(record, status=201, headers={"Location": f"/api/messages/{record['id']}"})


class PageMoved(Exception):
    """The posts that were asked for are listed by another page id."""

    def __init__(self, page_id: str) -> None:
        super().__init__(page_id)
        self.page_id = page_id


def _listed(query: Mapping[str, Any], page: Page) -> dict[str, Any]:
    """Raises PageMoved, which is asked for where nothing is found, so that it costs other lists nothing."""
    found, has_more = listing.listed_records(
        page_id=query["page_id"],
        parent_id=query.get("parent_id"),
        filters={name: query[name] for name in listing.FILTERS if name in query},
        after=page.after,
        limit=page.limit,
        with_top_reply=query["include_top_reply"],
    )
    if not found and (page_id := moved_to(query["page_id"])) is not None:
        raise PageMoved(page_id)
    next_cursor = page.cursor_at((found[-1]["createdAt"], found[-1]["id"])) if has_more else None
    return envelope("messages", found, next_cursor)


class MessageView(ApiView):
    @operation("getMessage", callers={CallerKind.PUBLIC}, answer=MessageRecord, errors=(errors.MessageNotFound,))
    def get(self, request: ApiRequest, id: str) -> Response:
        """One published post."""
        message_id = self.path_id(errors.MessageNotFound)
        return self.read(lambda: _published(message_id), message_tag(message_id))


def _published(message_id: UUID) -> dict[str, Any]:
    record = records.published_record(message_id)
    if record is None:
        raise errors.MessageNotFound
    return record
