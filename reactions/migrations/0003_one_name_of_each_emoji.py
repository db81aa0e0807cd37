"""Joins the reactions of earlier releases to an emoji under its names: `:+1:` and 👍 had two counts.

A post is one statement, in the order of the locks of `reactions.queries`. An interrupted run is repeated.
"""

from typing import Any
from uuid import UUID

from django.db import migrations

from reactions.emoji import one_emoji

NAMES = "SELECT DISTINCT emoji FROM reactions_reaction WHERE emoji LIKE ':%'"
POSTS = """
SELECT DISTINCT message_id FROM reactions_reaction WHERE message_id > %s AND emoji = ANY(%s)
ORDER BY message_id LIMIT 1000
"""
JOIN = """
WITH written AS (
    UPDATE reactions_reaction r SET emoji = known.emoji
    FROM unnest(%(names)s::varchar[], %(emoji)s::varchar[]) known (name, emoji)
    WHERE r.message_id = %(message)s AND r.emoji = known.name RETURNING known.name, known.emoji
), changed AS MATERIALIZED (
    SELECT jsonb_agg(difference) AS all FROM (
        SELECT name AS key, -count(*) AS number FROM written GROUP BY name
        UNION ALL SELECT emoji, count(*) FROM written GROUP BY emoji
    ) difference HAVING count(*) > 0
)
UPDATE messaging_message m SET reaction_counts = (
    SELECT jsonb_object_agg(key, number) FROM (
        SELECT key, sum(number) AS number FROM (
            SELECT key, value::bigint AS number FROM jsonb_each_text(m.reaction_counts)
            UNION ALL SELECT key, number FROM jsonb_to_recordset(changed.all) difference (key text, number bigint)
        ) each GROUP BY key HAVING sum(number) > 0
    ) summed
)
FROM changed WHERE m.id = %(message)s
"""


def join(_apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(NAMES)
        known = {name: emoji for (name,) in cursor.fetchall() if (emoji := one_emoji(name)) not in (None, name)}
        names, last = list(known), UUID(int=0)
        while names:
            cursor.execute(POSTS, [last, names])
            posts = [message for (message,) in cursor.fetchall()]
            if not posts:
                return
            for message in posts:
                cursor.execute(JOIN, {"message": message, "names": names, "emoji": list(known.values())})
            last = posts[-1]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reactions", "0002_reactions_by_post"), ("messaging", "0001_initial")]

    operations = [migrations.RunPython(join, migrations.RunPython.noop)]
