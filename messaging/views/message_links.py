"""The links of the OpenAPI document from a new post to the operations that take its ids."""

from __future__ import annotations

WITH_ITS_ID = ("getMessage", "editMessage", "deleteMessage", "listReactions", "reportMessage")
LINKS_OF_NEW: dict[str, dict[str, str]] = {
    **{name: {"id": "id"} for name in WITH_ITS_ID},
    "listMessages": {"pageId": "pageId", "parentId": "id"},
    "createMessage": {"body.pageId": "pageId", "body.parentId": "id", "body.content": "=A reply."},
    "addReaction": {"body.messageId": "id", "body.emoji": "=👍"},
}
