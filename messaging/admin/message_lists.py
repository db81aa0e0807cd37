"""What the list of posts offers: the filters, and the columns of the CSV."""

from __future__ import annotations

from typing import Any

from kernel.admin.counted import CountedChoices
from kernel.admin.exporting import Columns
from messaging.admin.filters import CommunityFilter, CreatedFilter
from messaging.admin.moderation import TagFilter
from messaging.admin.reports import ReportedFilter

FILTERS: list[Any] = [
    *(("status", CountedChoices), ReportedFilter, "author_kind", TagFilter),
    *(("created_at", CreatedFilter), ("community", CommunityFilter)),
]
CSV_COLUMNS: Columns = {
    "id": lambda row: row.pk,
    "status": lambda row: row.status,
    "author": lambda row: row.author.handle,
    "author is": lambda row: row.author_kind,
    "community": lambda row: row.community and row.community.name,
    "page": lambda row: row.page_id,
    "reply to": lambda row: row.parent_id,
    "text": lambda row: row.content,
    "smart tag": lambda row: row.tag_type,
    "open reports": lambda row: row.open_reports,
    "posted at": lambda row: row.created_at.isoformat(),
}
