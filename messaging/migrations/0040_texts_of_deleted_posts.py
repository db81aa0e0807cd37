"""Removes the texts of posts that were deleted or edited by earlier releases from the history of the admin.

A repeated run changes only what is left.
"""

from typing import Any

from django.db import migrations

BATCH = """
WITH batch AS MATERIALIZED (
    SELECT id, object_id, action_time FROM django_admin_log
    WHERE id > %(after)s AND content_type_id = (
        SELECT id FROM django_content_type WHERE app_label = 'messaging' AND model = 'message'
    )
    ORDER BY id LIMIT 2000
), changed AS (
    UPDATE django_admin_log entry SET object_repr = ''
    FROM batch LEFT JOIN messaging_message post ON post.id = batch.object_id::uuid
    WHERE entry.id = batch.id AND entry.object_repr <> '' AND (
        post.id IS NULL
        OR 'deleted' IN (post.status, post.status_before_hiding)
        OR post.edited_at > batch.action_time
    )
)
SELECT max(id) FROM batch
"""


def forget_texts(_apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        after = 0
        while after is not None:
            cursor.execute(BATCH, {"after": after})
            (after,) = cursor.fetchone()


class Migration(migrations.Migration):
    """Batches of their own transactions, because decisions are logged meanwhile."""

    atomic = False
    dependencies = [
        ("messaging", "0039_reports_of_community"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(forget_texts, migrations.RunPython.noop)]
