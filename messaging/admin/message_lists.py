"""What the list of posts offers: the columns of the CSV."""

from __future__ import annotations

from messaging.admin.desk.exporting import Columns

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
