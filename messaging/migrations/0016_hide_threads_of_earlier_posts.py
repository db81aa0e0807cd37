"""Marks the replies to posts that were hidden before the triggers of 0015. Each thread is a transaction.

An interrupted run is repeated: it marks only what is missing.
"""

from typing import Any

from django.db import migrations

HIDDEN = """
SELECT m.id FROM messaging_message m
WHERE m.status IN ('hidden', 'pending') AND EXISTS (
    SELECT FROM messaging_message reply
    WHERE reply.parent_id = m.id AND reply.status = 'published' AND NOT reply.in_hidden_thread
)
"""
# A post that was restored meanwhile is left to the triggers.
MARK = """
SELECT messaging_mark_thread(locked.id, true)
FROM (SELECT id FROM messaging_message WHERE id = %s AND status IN ('hidden', 'pending') FOR NO KEY UPDATE) locked
"""


def mark(_apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(HIDDEN)
        for (message_id,) in cursor.fetchall():
            cursor.execute(MARK, [message_id])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("messaging", "0015_threads_and_tombstones")]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
