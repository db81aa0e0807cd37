"""Counts a deleted post that is still listed among the replies to its parent.

`replyCount` was 0 although a reply was listed, so that readers did not look for the replies below it. The lock keeps
posts from changing between the count and the new function. Safe beside an older release, which does not count by itself.
"""

from importlib import import_module

from django.db import migrations

# From a deleted post up to the first ancestor that does not change. The changes of counts here run the trigger again,
# which leaves them to the next turn of the loop.
SETTLE_TOMBSTONES = """
CREATE OR REPLACE FUNCTION messaging_settle_tombstones() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    current uuid := NEW.id;
    difference int;
BEGIN
    IF pg_trigger_depth() > 1 THEN
        RETURN NULL;
    END IF;
    WHILE current IS NOT NULL LOOP
        UPDATE messaging_message m SET is_tombstone = NOT m.is_tombstone
        WHERE m.id = current AND m.is_tombstone <> (m.status = 'deleted' AND m.reply_count > 0)
        RETURNING m.parent_id, CASE WHEN m.is_tombstone THEN 1 ELSE -1 END INTO current, difference;
        UPDATE messaging_message SET reply_count = reply_count + difference WHERE id = current;
    END LOOP;
    RETURN NULL;
END
$$
"""
SETTLE_BEFORE = import_module("messaging.migrations.0015_threads_and_tombstones").SETTLE_TOMBSTONES
LOCK = "LOCK TABLE messaging_message IN SHARE ROW EXCLUSIVE MODE"
COUNT = """
UPDATE messaging_message parent SET reply_count = reply_count {sign} counted.replies
FROM (
    SELECT parent_id, count(*) AS replies FROM messaging_message
    WHERE status = 'deleted' AND is_tombstone AND parent_id IS NOT NULL GROUP BY parent_id
) counted
WHERE parent.id = counted.parent_id
"""


class Migration(migrations.Migration):
    dependencies = [("messaging", "0040_texts_of_deleted_posts")]

    operations = [
        migrations.RunSQL(
            [LOCK, COUNT.format(sign="+"), SETTLE_TOMBSTONES],
            [LOCK, SETTLE_BEFORE.replace("CREATE", "CREATE OR REPLACE", 1), COUNT.format(sign="-")],
        )
    ]
