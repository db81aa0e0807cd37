"""Derives the counts and search entries of the posts that were written before the triggers of 0010.

It locks no post. An interrupted run is repeated: it adds only what is missing.
"""

from typing import Any

from django.db import migrations

# What the posts of the statement's snapshot are more than the counts of the same snapshot. Triggers add to other slots
# meanwhile.
COUNT = """
INSERT INTO messaging_{table} AS counted ({owner}, slot, posts, replies)
SELECT {owner}, -1, sum(posts), sum(replies) FROM (
    SELECT {owner}, count(*) - count(parent_id) AS posts, count(parent_id) AS replies
    FROM messaging_message WHERE status = 'published' AND {owner} IS NOT NULL GROUP BY {owner}
    UNION ALL SELECT {owner}, -posts, -replies FROM messaging_{table}
) difference
GROUP BY {owner} HAVING sum(posts) <> 0 OR sum(replies) <> 0
ON CONFLICT ({owner}, slot) DO UPDATE
    SET posts = counted.posts + excluded.posts, replies = counted.replies + excluded.replies
"""
BATCH = """
WITH batch AS MATERIALIZED (
    SELECT id, page_id, community_id, created_at, status, content, payload FROM messaging_message
    WHERE %(after)s::uuid IS NULL OR id > %(after)s ORDER BY id LIMIT 2000
), added AS (
    INSERT INTO messaging_searchentry (message_id, page_id, community_id, created_at, words)
    SELECT id, page_id, community_id, created_at, messaging_search_words(content, payload)
    FROM batch WHERE status = 'published' ON CONFLICT DO NOTHING
)
SELECT id FROM batch ORDER BY id DESC LIMIT 1
"""
# A post that was hidden or moved while its batch was written.
CORRECT = (
    """
    DELETE FROM messaging_searchentry entry
    WHERE NOT EXISTS (SELECT FROM messaging_message m WHERE m.id = entry.message_id AND m.status = 'published')
    """,
    """
    UPDATE messaging_searchentry entry SET page_id = m.page_id
    FROM messaging_message m WHERE m.id = entry.message_id AND m.page_id <> entry.page_id
    """,
)


def derive(_apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        for table, owner in (("pagecount", "page_id"), ("communitycount", "community_id")):
            cursor.execute(COUNT.format(table=table, owner=owner))
        last = [None]
        while last:
            cursor.execute(BATCH, {"after": last[0]})
            last = cursor.fetchone()
        for statement in CORRECT:
            cursor.execute(statement)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("messaging", "0011_indexes_of_reads")]

    operations = [migrations.RunPython(derive, migrations.RunPython.noop)]
