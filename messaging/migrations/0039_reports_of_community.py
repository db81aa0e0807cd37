"""Sets the community of earlier reports, and adds an index of the open reports of a community.

A repeated run changes only what is missing.
"""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q

BATCH = """
WITH batch AS MATERIALIZED (
    SELECT id, message_id FROM messaging_report WHERE id > %(after)s ORDER BY id LIMIT 2000
), changed AS (
    UPDATE messaging_report report SET community_id = message.community_id
    FROM batch JOIN messaging_message message ON message.id = batch.message_id
    WHERE report.id = batch.id AND report.community_id IS DISTINCT FROM message.community_id
)
SELECT max(id) FROM batch
"""


def set_communities(_apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        after = 0
        while after is not None:
            cursor.execute(BATCH, {"after": after})
            (after,) = cursor.fetchone()


class Migration(migrations.Migration):
    """Neither locks the table: reports are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0038_community_of_reports")]

    operations = [
        migrations.RunPython(set_communities, migrations.RunPython.noop),
        AddIndexConcurrently(
            "report",
            models.Index("community_id", "message", condition=Q(closed_at=None), name="open_reports_of_community"),
        ),
    ]
