"""Marks the posts of earlier imports as imported, in batches by the order in which they were written.

An interrupted run is repeated: it marks what is missing. Each batch is a transaction, so it delays no writer for long.
"""

from typing import Any

from django.db import migrations

BATCH = """
WITH batch AS MATERIALIZED (
    SELECT id, message_id FROM moving_importedpost WHERE id > %(after)s ORDER BY id LIMIT 2000
), locked AS MATERIALIZED (
    SELECT message.id FROM messaging_message message JOIN batch ON message.id = batch.message_id
    WHERE NOT message.imported ORDER BY message.id FOR NO KEY UPDATE OF message
), marked AS (
    UPDATE messaging_message message SET imported = true FROM locked WHERE message.id = locked.id
)
SELECT max(id) FROM batch
"""


def mark(_apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        after = 0
        while after is not None:
            cursor.execute(BATCH, {"after": after})
            after = cursor.fetchone()[0]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("moving", "0007_posts_of_earlier_erasures"), ("messaging", "0050_imported")]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
