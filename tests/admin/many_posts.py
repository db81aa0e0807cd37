"""Many posts, which one statement inserts."""

from __future__ import annotations

from typing import Any

from django.db import connection

from messaging.models import Message

COLUMNS = {
    "id": "lpad(to_hex(n), 32, '0')::uuid",
    "page_id": "%(page)s",
    "author_id": "%(author)s",
    "author_kind": "%(kind)s",
    "community_id": "%(community)s::uuid",
    "status": "'published'",
    "content": "'Post number ' || n",
    "attachments": "'[]'",
    "reaction_counts": "'{}'",
    "reaction_total": "0",
    "reply_count": "0",
    "quote_count": "0",
    "created_at": "now()",
    "updated_at": "now()",
}


def insert_posts(count: int, *, beside: Message, with_triggers: bool = False, **columns: str) -> None:
    """Insert posts of the same page, author and community. `columns` are SQL expressions of their number, `n`."""
    values = COLUMNS | columns
    known: dict[str, Any] = {"page": beside.page_id, "author": beside.author_id, "kind": beside.author_kind}
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL session_replication_role = {'DEFAULT' if with_triggers else 'replica'}")
        cursor.execute(
            f"INSERT INTO messaging_message ({', '.join(values)}) SELECT {', '.join(values.values())}"
            " FROM generate_series(1, %(count)s) n",
            known | {"community": beside.community_id, "count": count},
        )
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
        cursor.execute("ANALYZE messaging_message")
