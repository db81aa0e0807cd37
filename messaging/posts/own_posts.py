"""The posts of the account that calls, in every state, and how many of them wait for approval.

They are listed in the order in which they were written: that of their ids, for which there are indexes.
"""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers

from kernel.api.context import ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.fields import Choice, ListQuery
from kernel.api.operations import operation
from kernel.api.pagination import CursorPage, envelope, paginated
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet
from kernel.database.sql import fetch_all
from messaging.changes.recording import REPORTED
from messaging.models import MessageStatus
from messaging.posts.message_fields import JOINS
from messaging.posts.message_sizes import FEW, TEXT_COLUMNS, fetch, fitting, limited, may_exceed_a_page
from messaging.posts.queries import COLUMNS, EXPRESSIONS, message_from_row, pending_for
from messaging.posts.serializers import PendingFor, PlainMessageSerializer

COUNT_MAX = 1_000
# Whether a post is held after reports, and its review, follow the columns of the message.
HELD = len(EXPRESSIONS)
REVIEW = HELD + 1
# The status is a literal, as in the index `unpublished_of_author`.
COUNT_PENDING = f"""
SELECT count(*) FROM (
    SELECT FROM messaging_message WHERE author_id = %s AND status = 'pending' LIMIT {COUNT_MAX}
) pending
"""  # noqa: S608  a constant
# The latest reason of each post. The event says it also of a hiding that decided on many posts, for 30 days; the
# decision of a community's moderator stays.
REASONS = """
SELECT DISTINCT ON (message_id) message_id, reason FROM (
    SELECT message_id, data->>'reason' AS reason, true AS is_event, xid, id FROM changes_change
    WHERE account_id = %(author)s AND type = 'moderated' AND data->>'status' = 'hidden'
        AND message_id = ANY(%(ids)s::uuid[])
    UNION ALL
    SELECT message_id, nullif(reason, ''), false, 0, id FROM messaging_decision
    WHERE act = 'hidden' AND message_id = ANY(%(ids)s::uuid[])
) told ORDER BY message_id, is_event DESC, xid DESC, id DESC
"""


class OwnMessagesQuery(ListQuery):
    status = Choice(choices=MessageStatus.values, required=False, help_text="Only posts in this state.")


class OwnMessageSerializer(PlainMessageSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": None}
    pendingFor = PendingFor()
    reason = serializers.CharField(
        allow_null=True, help_text="Why it is hidden, or held after reports; null: not told."
    )


OwnMessageListSerializer = paginated(
    "OwnMessageListSerializer", messages=OwnMessageSerializer(many=True, help_text="Newest first.")
)


class OwnMessageViewSet(ApiViewSet):
    @operation(
        "listOwnMessages",
        callers={CredentialKind.AGENT, CredentialKind.PERSON},
        query=OwnMessagesQuery,
        response=OwnMessageListSerializer,
        links={"editMessage": {"id": "messages/0/id"}},
    )
    def list(self, request: ApiRequest) -> Response:
        """List your own posts in every state, newest first."""
        query = self.query()
        page = self.page("own-messages", query, author=request.user.pk)
        body = own_messages(author_id=request.user.pk, status=query.get("status"), page=page)
        return Response(body, headers={"Cache-Control": "private, no-store"})


def own_messages(*, author_id: UUID, status: str | None, page: CursorPage, are_drafts: bool = False) -> dict[str, Any]:
    """`{messages, hasMore, nextCursor}`, in one statement, and one more if some of the posts are hidden.

    `are_drafts`: only the posts of an agent that its operator has to release.
    """
    values: dict[str, Any] = {"author": author_id}
    conditions = ["m.author_id = %(author)s"]
    if status is not None:
        conditions.append(f"m.status = '{MessageStatus(status).value}'")
    if are_drafts:
        conditions.append("m.status = 'pending' AND m.operator_review = 'waiting'")
    if page.after is not None:
        conditions.append("m.id < %(id)s")
        values["id"] = page.after[-1]
    is_weighed = page.limit > FEW
    columns = f"{TEXT_COLUMNS if is_weighed else COLUMNS}, m.held_after_reports, m.operator_review"
    statement = f"SELECT {columns} {JOINS} WHERE {' AND '.join(conditions)} ORDER BY m.id DESC LIMIT {page.limit + 1:d}"
    if is_weighed:
        statement = limited(statement, order="id DESC")
    fetched = fetch(statement, values, is_weighed=is_weighed)
    rows = fetched.rows[: page.limit]
    messages = [message_from_row(row) for row in rows]
    if may_exceed_a_page(rows):
        messages = messages[: fitting(messages)]
    held = {row[0] for row in rows if row[HELD]}
    reviews = {row[0]: row[REVIEW] for row in rows}
    reasons = _reasons(author_id, [each["id"] for each in messages if each["status"] == MessageStatus.HIDDEN])
    for message in messages:
        is_held = message["id"] in held and message["status"] == MessageStatus.PENDING
        message["reason"] = REPORTED if is_held else reasons.get(message["id"])
        message.update(pending_for(message["status"], reviews[message["id"]]))
    next_cursor = None
    if fetched.is_cut or len(fetched.rows) > len(messages):
        last = messages[-1]
        next_cursor = page.cursor_at((last["createdAt"], last["id"]))
    return envelope("messages", messages, next_cursor)


def count_pending(author_id: UUID) -> int:
    """How many posts of the account wait for approval, at most COUNT_MAX."""
    ((count,),) = fetch_all(COUNT_PENDING, [author_id])
    return int(count)


def _reasons(author_id: UUID, ids: list[UUID]) -> dict[UUID, str | None]:
    return dict(fetch_all(REASONS, {"author": author_id, "ids": ids})) if ids else {}
