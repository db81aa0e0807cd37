"""The search of posts."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import InvalidParameter
from kernel.api.fields import Id, ListQuery, Text
from kernel.api.operations import operation
from kernel.api.pagination import CursorPage, envelope
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet
from messaging.pages.moving import moved_to
from messaging.pages.page_ids import is_page_id
from messaging.posts.embed_views import embed_errors, shown_by
from messaging.posts.exceptions import page_id_needed
from messaging.posts.message_sizes import messages_by_id
from messaging.posts.serializers import MessageListSerializer, MessageQuery
from messaging.posts.shown import without_foreign_quotes
from messaging.search.queries import SCOPES, UNSPACED_LETTER, Scope, find_matches
from messaging.serializer_fields import PageIdText

QUERY_MIN, QUERY_MAX = 2, 200
LETTER = re.compile(UNSPACED_LETTER)


class Words(Text):
    def to_internal_value(self, data: Any) -> str:
        words = super().to_internal_value(data)
        if len(words) < QUERY_MIN and not LETTER.match(words):
            self.fail("min_length", min_length=QUERY_MIN)
        return words


class SearchQuery(MessageQuery, ListQuery):
    openapi_example: ClassVar[dict[str, Any]] = {"q": "well said"}
    q = Words(
        trim=True,
        min_length=1,
        max_length=QUERY_MAX,
        help_text="The words to find. One character alone is a word in scripts without spaces, and in Korean.",
    )
    pageId = PageIdText(source="page_id", required=False, help_text="Of one page.")
    communityId = Id(source="community_id", required=False, help_text="Of one community.")


class SearchViewSet(ApiViewSet):
    @operation(
        "searchMessages",
        callers={CredentialKind.PUBLIC},
        query=SearchQuery,
        response=MessageListSerializer,
        throttle="search",
        errors=embed_errors(),
        links={"getMessage": {"id": "messages/0/id"}},
    )
    def list(self, request: ApiRequest) -> Response:
        """Search the published posts and replies. Best match first, then newest.

        Every word must occur, in any case and with or without accents; `"…"` is a phrase, `or` an alternative,
        `-word` must not occur. The newest 1,000 matches are ranked by how often they have the words.
        """
        query = self.query()
        page_id = query.get("page_id")
        if page_id is not None and not is_page_id(page_id):
            raise InvalidParameter(page_id_needed(page_id), field="pageId")
        page = self.page("search", query, ranked=True)
        return self.read_uncached(lambda: _found(query, page))


def _found(query: dict[str, Any], page: CursorPage) -> dict[str, Any]:
    body = _matches(query, page)
    page_id = query.get("page_id")
    if page_id is not None and not body["messages"] and (new_id := moved_to(page_id)) is not None:
        return _matches({**query, "page_id": new_id}, page)
    return body


def _matches(query: dict[str, Any], page: CursorPage) -> dict[str, Any]:
    shown = shown_by(query.get("embed_id"))
    scope = Scope({name: query[name] for name in SCOPES if name in query}, shown)
    matches = find_matches(text=query["q"], scope=scope, after=page.after, limit=page.limit + 1)
    found, looked_up = messages_by_id([match.message_id for match in matches[: page.limit]])
    by_id = {message["id"]: message for message in without_foreign_quotes(found, shown)}
    listed = [match for match in matches if match.message_id in looked_up]
    next_cursor = page.cursor_at(listed[-1]) if len(listed) < len(matches) else None
    messages = [by_id[match.message_id] for match in listed if match.message_id in by_id]
    return envelope("messages", messages, next_cursor)
