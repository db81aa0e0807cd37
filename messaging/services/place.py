"""What a new post finds where it goes, in one statement."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from config.api.ids import is_id
from config.api.sql import Row
from config.writes.transaction import Prefetch, WriteTransaction
from messaging.errors import ParentNotFound, QuoteNotFound, UnknownPage
from messaging.page_ids import is_page_id
from messaging.records import QUOTE_COLUMNS

FIND = f"""
SELECT clock_timestamp(), page.id, parent.id IS NOT NULL, parent.community_id, {QUOTE_COLUMNS}
FROM (VALUES (0)) place
LEFT JOIN messaging_movedpage moved ON moved.old_id = %(page)s
LEFT JOIN messaging_page page ON page.id = coalesce(moved.page_id, %(page)s)
LEFT JOIN messaging_message parent
    ON parent.id = %(parent)s AND parent.page_id = page.id AND parent.status = 'published'
LEFT JOIN messaging_message q ON q.id = %(quote)s AND q.status = 'published'
LEFT JOIN messaging_account qa ON qa.id = q.author_id
"""  # noqa: S608  made of constants


@dataclass(frozen=True, slots=True)
class Place:
    """The page, the post that is answered and the one that is quoted, each as far as it is public.

    `quote` is a row of QUOTE_COLUMNS, all None where there is none. `now` is the time by PostgreSQL's clock.
    """

    parent_id: UUID | None
    quote_id: UUID | None
    now: datetime
    page_id: str | None
    has_parent: bool
    parent_community_id: UUID | None
    quote: Row

    def require_page(self) -> str:
        """The id of the page, which another one may have led to; raises UnknownPage (400)."""
        if self.page_id is None:
            raise UnknownPage(
                field="pageId", details="Ask POST /v1/presence/normalize-url for the id of the page first."
            )
        return self.page_id

    def require_answered(self, still_public: Collection[UUID] | None = None) -> None:
        """Raises ParentNotFound or QuoteNotFound (404). `still_public`: which of the two a second look found so."""
        if self.parent_id is not None and (not self.has_parent or _is_gone(self.parent_id, still_public)):
            raise ParentNotFound
        if self.quote_id is not None and (self.quote[0] is None or _is_gone(self.quote_id, still_public)):
            raise QuoteNotFound


def _is_gone(message_id: UUID, still_public: Collection[UUID] | None) -> bool:
    return still_public is not None and message_id not in still_public


def question(*, page_id: str, parent_id: UUID | None, quote_id: UUID | None) -> Prefetch:
    return Prefetch(FIND, {"page": page_id, "parent": parent_id, "quote": quote_id})


def question_of(data: Mapping[str, Any]) -> Prefetch | None:
    """From a body as it was sent, before anything else of it is looked at; None where it cannot be right."""
    page_id, named = data.get("pageId"), (data.get("parentId"), data.get("quoteId"))
    if not isinstance(page_id, str) or not is_page_id(page_id) or not all(i is None or is_id(i) for i in named):
        return None
    parent_id, quote_id = (None if i is None else UUID(i) for i in named)
    return question(page_id=page_id, parent_id=parent_id, quote_id=quote_id)


def find_place(transaction: WriteTransaction, *, page_id: str, parent_id: UUID | None, quote_id: UUID | None) -> Place:
    row = transaction.fetch(question(page_id=page_id, parent_id=parent_id, quote_id=quote_id))
    now, known_page_id, has_parent, parent_community_id, *quote = row
    return Place(parent_id, quote_id, now, known_page_id, has_parent, parent_community_id, tuple(quote))
