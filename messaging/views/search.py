from __future__ import annotations

from typing import Any

from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import InvalidParameter
from kernel.api.operations import operation
from kernel.api.pagination import CursorPage, envelope
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.viewsets import ApiViewSet
from messaging.exceptions import page_id_needed
from messaging.page_ids import is_page_id
from messaging.queries.message_sizes import messages_by_id
from messaging.queries.search import SCOPES, Scope, find_matches
from messaging.queries.shown import without_foreign_quotes
from messaging.serializers.messages import MessageListSerializer
from messaging.serializers.search import SearchQuery
from messaging.services.moving import moved_to
from messaging.shown import embed_errors, shown_by


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
