"""Counts the posts of communities on pages that were written before the function of 0044.

It locks no post. A repeated run adds only what is missing.
"""

from django.db import migrations

# What the posts of the statement's snapshot are more than the counts of the same snapshot. Triggers add to other slots
# meanwhile.
COUNT = """
INSERT INTO messaging_pagecommunitycount AS counted (page_id, community_id, slot, posts, replies)
SELECT page_id, community_id, -1, sum(posts), sum(replies) FROM (
    SELECT page_id, community_id, count(*) - count(parent_id) AS posts, count(parent_id) AS replies
    FROM messaging_message WHERE status = 'published' AND NOT in_hidden_thread AND community_id IS NOT NULL
    GROUP BY page_id, community_id
    UNION ALL SELECT page_id, community_id, -posts, -replies FROM messaging_pagecommunitycount
) difference
GROUP BY page_id, community_id HAVING sum(posts) <> 0 OR sum(replies) <> 0
ON CONFLICT (page_id, community_id, slot) DO UPDATE
    SET posts = counted.posts + excluded.posts, replies = counted.replies + excluded.replies
"""


class Migration(migrations.Migration):
    dependencies = [("messaging", "0053_queue_of_page")]

    operations = [migrations.RunSQL(COUNT, migrations.RunSQL.noop)]
