"""What the API returns of a deleted post that others answer. Its row has no content (`messaging.services.deleting`)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from messaging.models import MessageStatus

DELETED = MessageStatus.DELETED.value
# Of no account: ids are UUIDv7.
NOBODY = UUID(int=0)


def mask(message: dict[str, Any]) -> dict[str, Any]:
    """The message without who wrote it and what it quoted."""
    author = {"id": NOBODY, "name": "Deleted", "handle": "deleted", "kind": message["author"]["kind"]}
    return message | {"author": author, "quoteId": None, "quote": None, "editedAt": None}
