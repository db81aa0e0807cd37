"""Counts the posts of each community on a page, which its widget shows as a number; 0054 counts the earlier ones.

The short lock waits for the writes that run the function of before. Safe beside an older release: its writes run the
triggers too.
"""

from django.db import migrations, models

LOCK = "LOCK TABLE messaging_message IN SHARE ROW EXCLUSIVE MODE"
ADD = """
    INSERT INTO messaging_{table} AS counted ({owner}, slot, posts, replies)
    VALUES ({values}, pg_backend_pid() % 16, new_posts, new_replies)
    ON CONFLICT ({owner}, slot) DO UPDATE
        SET posts = counted.posts + excluded.posts, replies = counted.replies + excluded.replies;
"""
COUNT_POSTS = """
CREATE OR REPLACE FUNCTION messaging_count_posts(
    page varchar, community uuid, new_posts bigint, new_replies bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    {of_page}
    IF community IS NOT NULL THEN
        {of_community}
    END IF;
END
$$
"""
OF_PAGE = ADD.format(table="pagecount", owner="page_id", values="page")
OF_COMMUNITY = ADD.format(table="communitycount", owner="community_id", values="community")
OF_BOTH = ADD.format(table="pagecommunitycount", owner="page_id, community_id", values="page, community")
# Room in each page of the table, so that a count is changed without touching its index.
ROOM = "ALTER TABLE messaging_pagecommunitycount SET (fillfactor = 70)"


class Migration(migrations.Migration):
    dependencies = [("messaging", "0043_hidden_here")]

    operations = [
        migrations.CreateModel(
            "PageCommunityCount",
            [
                ("slot", models.SmallIntegerField()),
                ("posts", models.IntegerField()),
                ("replies", models.IntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        *("page_id", "community_id", "slot"),
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("page_id", models.CharField(max_length=35)),
                ("community_id", models.UUIDField()),
            ],
        ),
        migrations.RunSQL(
            [LOCK, ROOM, COUNT_POSTS.format(of_page=OF_PAGE, of_community=OF_COMMUNITY + OF_BOTH)],
            [COUNT_POSTS.format(of_page=OF_PAGE, of_community=OF_COMMUNITY)],
        ),
    ]
