"""What a new post finds where it goes, in one statement."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from config.api.sql import Row, fetch_all
from messaging.errors import ParentNotFound, QuoteNotFound, UnknownPage
from messaging.records import QUOTE_COLUMNS

FIND = f"""
SELECT page.id IS NOT NULL, parent.id IS NOT NULL, parent.community_id, {QUOTE_COLUMNS}
FROM (VALUES (0)) place
LEFT JOIN messaging_page page ON page.id = %(page)s
LEFT JOIN messaging_message parent
    ON parent.id = %(parent)s AND parent.page_id = %(page)s AND parent.status = 'published'
LEFT JOIN messaging_message q ON q.id = %(quote)s AND q.status = 'published'
LEFT JOIN messaging_account qa ON qa.id = q.author_id
"""  # noqa: S608  made of constants


@dataclass(frozen=True, slots=True)
class Place:
    """The page, the post that is answered and the one that is quoted, each as far as it is public.

    `quote` is a row of QUOTE_COLUMNS, all None where there is none.
    """

    page_id: str
    parent_id: UUID | None
    quote_id: UUID | None
    has_page: bool
    has_parent: bool
    parent_community_id: UUID | None
    quote: Row

    def require_page(self) -> None:
        """Raises UnknownPage (400)."""
        if not self.has_page:
            raise UnknownPage(
                field="pageId", details="Ask POST /v1/presence/normalize-url for the id of the page first."
            )

    def require_answered(self) -> None:
        """Raises ParentNotFound or QuoteNotFound (404)."""
        if self.parent_id is not None and not self.has_parent:
            raise ParentNotFound
        if self.quote_id is not None and self.quote[0] is None:
            raise QuoteNotFound


def find_place(*, page_id: str, parent_id: UUID | None, quote_id: UUID | None) -> Place:
    (row,) = fetch_all(FIND, {"page": page_id, "parent": parent_id, "quote": quote_id})
    has_page, has_parent, parent_community_id, *quote = row
    return Place(page_id, parent_id, quote_id, has_page, has_parent, parent_community_id, tuple(quote))
