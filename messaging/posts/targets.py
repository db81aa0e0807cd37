"""Loads the page, parent and quoted post of a new message in one statement."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from kernel.api.ids import is_id
from kernel.database.sql import Row
from kernel.writes.transaction import Prefetch, WriteTransaction
from messaging.pages.page_ids import is_page_id
from messaging.posts.exceptions import ParentNotFound, QuoteNotFound, UnknownPage, page_id_needed
from messaging.posts.message_fields import QUOTE_COLUMNS
from messaging.posts.shown import is_public

# The space of the advisory locks on pages. A closing waits for the writes to its page that have begun, and those that
# begin meanwhile wait for the closing: the next statement of a write sees it (`messaging.pages.discussions`).
LOCK_SPACE = "hashtext('page')"
FIND = f"""
SELECT clock_timestamp(), page.id, page.normalized_url, parent.id IS NOT NULL, parent.community_id, parent.author_id,
    pg_advisory_xact_lock_shared({LOCK_SPACE}, hashtext(page.id)) IS NULL AS is_locked, {", ".join(QUOTE_COLUMNS)}
FROM (VALUES (0)) place
LEFT JOIN messaging_movedpage moved ON moved.old_id = %(page)s
LEFT JOIN messaging_page page ON page.id = coalesce(moved.page_id, %(page)s)
LEFT JOIN messaging_message parent
    ON parent.id = %(parent)s AND parent.page_id = page.id AND {is_public("parent")}
LEFT JOIN messaging_message q ON q.id = %(quote)s AND {is_public("q")}
LEFT JOIN messaging_account qa ON qa.id = q.author_id
"""  # noqa: S608  built from constants


QUOTE_AUTHOR = QUOTE_COLUMNS.index("qa.id AS quoted_author_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageTargets:
    """The page of a new message, and its parent and quoted post if these are public.

    `quote` is a row of QUOTE_COLUMNS, all None without a public post. `now` is the time by PostgreSQL's clock.
    """

    parent_id: UUID | None
    quote_id: UUID | None
    now: datetime
    page_id: str | None
    page_url: str | None
    has_parent: bool
    parent_community_id: UUID | None
    parent_author_id: UUID | None
    quote: Row

    @property
    def quote_author_id(self) -> UUID | None:
        author_id: UUID | None = self.quote[QUOTE_AUTHOR]
        return author_id

    def require_page(self) -> str:
        """The current id of the page, also for an older id; raises UnknownPage (400)."""
        if self.page_id is None:
            raise UnknownPage(field="pageId")
        return self.page_id

    def require_visible(self, still_visible: Collection[UUID] | None = None) -> None:
        """Raises ParentNotFound or QuoteNotFound (404). `still_visible`: the ids that a later statement returned."""
        if self.parent_id is not None and (not self.has_parent or _is_missing(self.parent_id, still_visible)):
            raise ParentNotFound
        if self.quote_id is not None and (self.quote[0] is None or _is_missing(self.quote_id, still_visible)):
            raise QuoteNotFound


def prefetch_targets(data: Mapping[str, Any]) -> Prefetch | None:
    """The statement for a body that is not validated yet; None if an id in the body is malformed."""
    page_id, message_ids = data.get("pageId"), (data.get("parentId"), data.get("quoteId"))
    if not isinstance(page_id, str) or not is_page_id(page_id) or not all(i is None or is_id(i) for i in message_ids):
        return None
    parent_id, quote_id = (None if i is None else UUID(i) for i in message_ids)
    return Prefetch(FIND, {"page": page_id, "parent": parent_id, "quote": quote_id})


def fetch_targets(transaction: WriteTransaction, data: Mapping[str, Any]) -> MessageTargets:
    """The targets of a valid body, which the transaction may have prefetched.

    Raises UnknownPage (400) for a malformed page id.
    """
    prefetch = prefetch_targets(data)
    if prefetch is None:
        raise UnknownPage(page_id_needed(data.get("pageId")), field="pageId")
    now, page_id, page_url, has_parent, parent_community_id, parent_author_id, _, *quote = transaction.fetch(prefetch)
    return MessageTargets(
        parent_id=prefetch.values["parent"],
        quote_id=prefetch.values["quote"],
        now=now,
        page_id=page_id,
        page_url=page_url,
        has_parent=has_parent,
        parent_community_id=parent_community_id,
        parent_author_id=parent_author_id,
        quote=tuple(quote),
    )


def _is_missing(message_id: UUID, still_visible: Collection[UUID] | None) -> bool:
    return still_visible is not None and message_id not in still_visible
