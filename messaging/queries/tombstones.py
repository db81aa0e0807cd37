"""What the API returns of a deleted post that others answer. Its row has no content (`messaging.services.deleting`)."""

from __future__ import annotations

from typing import Any

from messaging.deleted_accounts import deleted_account
from messaging.models import MessageStatus

DELETED = MessageStatus.DELETED.value


def mask(message: dict[str, Any]) -> dict[str, Any]:
    """The message without who wrote it and what it quoted."""
    author = deleted_account(message["author"]["kind"])
    return message | {"author": author, "authorRole": None, "quoteId": None, "quote": None, "editedAt": None}
