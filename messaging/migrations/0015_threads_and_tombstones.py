"""Triggers that set `in_hidden_thread` and `is_tombstone`; counts and search entries leave out hidden threads.

Safe beside an older release: its writes run the triggers too. Each creation locks the table of posts for a moment.
"""

from django.db import migrations

# `messaging_posts_added` and `messaging_post_changed` as in 0010, with the condition on hidden threads.
POSTS_ADDED = """
CREATE OR REPLACE FUNCTION messaging_posts_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM messaging_count_posts(page_id, community_id, count(*) - count(parent_id), count(parent_id))
    FROM added WHERE status = 'published'{open} GROUP BY page_id, community_id ORDER BY page_id, community_id;
    INSERT INTO messaging_searchentry (message_id, page_id, community_id, created_at, words)
    SELECT id, page_id, community_id, created_at, messaging_search_words(content, payload)
    FROM added WHERE status = 'published'{open};
    RETURN NULL;
END
$$
"""
POST_CHANGED = """
CREATE OR REPLACE FUNCTION messaging_post_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_public bool := OLD.status = 'published'{old_open};
    is_public bool := TG_OP = 'UPDATE' AND NEW.status = 'published'{new_open};
    difference int := is_public::int - was_public::int;
BEGIN
    IF difference <> 0 THEN
        PERFORM messaging_count_posts(
            OLD.page_id, OLD.community_id,
            CASE WHEN OLD.parent_id IS NULL THEN difference ELSE 0 END,
            CASE WHEN OLD.parent_id IS NULL THEN 0 ELSE difference END
        );
    END IF;
    IF is_public THEN
        INSERT INTO messaging_searchentry (message_id, page_id, community_id, created_at, words)
        SELECT NEW.id, NEW.page_id, NEW.community_id, NEW.created_at, messaging_search_words(NEW.content, NEW.payload)
        ON CONFLICT (message_id) DO UPDATE SET page_id = excluded.page_id, words = excluded.words;
    ELSE
        DELETE FROM messaging_searchentry WHERE message_id = OLD.id;
    END IF;
    RETURN NULL;
END
$$
"""
DERIVED = [
    POSTS_ADDED.format(open=" AND NOT in_hidden_thread"),
    POST_CHANGED.format(old_open=" AND NOT OLD.in_hidden_thread", new_open=" AND NOT NEW.in_hidden_thread"),
]
DERIVED_BEFORE = [
    POST_CHANGED.format(old_open="", new_open=""),
    POSTS_ADDED.format(open=""),
]

# A reply that is written or becomes public: writers of a public reply have locked its parent.
ENTERS_THREAD = """
CREATE FUNCTION messaging_reply_enters_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.in_hidden_thread := EXISTS (
        SELECT FROM messaging_message parent
        WHERE parent.id = NEW.parent_id AND (parent.in_hidden_thread OR parent.status IN ('hidden', 'pending'))
    );
    RETURN NEW;
END
$$
"""
# Level by level, each in a statement of its own: it sees the replies that were committed while the one before waited
# for their parents. Below a reply that is hidden or pending itself, nothing changes. A level is counted at once: a
# transaction that changed the row of a count for each of many replies would read all its former versions each time.
MARK_THREAD = """
CREATE FUNCTION messaging_mark_thread(root uuid, is_hidden bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    level uuid[] := ARRAY[root];
    public_replies uuid[];
BEGIN
    WHILE level IS NOT NULL LOOP
        WITH marked AS (
            UPDATE messaging_message SET in_hidden_thread = is_hidden
            WHERE in_hidden_thread <> is_hidden AND id IN (
                SELECT id FROM messaging_message
                WHERE parent_id = ANY(level) AND status = 'published' AND in_hidden_thread <> is_hidden
                UNION ALL
                SELECT id FROM messaging_message
                WHERE parent_id = ANY(level) AND status = 'deleted' AND in_hidden_thread <> is_hidden
            )
            RETURNING id, status
        )
        SELECT array_agg(id) FILTER (WHERE status IN ('published', 'deleted')),
            array_agg(id) FILTER (WHERE status = 'published')
        INTO level, public_replies FROM marked;
        PERFORM messaging_count_posts(
            page_id, community_id, 0, CASE WHEN is_hidden THEN -count(*) ELSE count(*) END
        )
        FROM messaging_message WHERE id = ANY(public_replies)
        GROUP BY page_id, community_id ORDER BY page_id, community_id;
        IF is_hidden THEN
            DELETE FROM messaging_searchentry WHERE message_id = ANY(public_replies);
        ELSE
            INSERT INTO messaging_searchentry (message_id, page_id, community_id, created_at, words)
            SELECT id, page_id, community_id, created_at, messaging_search_words(content, payload)
            FROM messaging_message WHERE id = ANY(public_replies)
            ON CONFLICT (message_id) DO UPDATE SET page_id = excluded.page_id, words = excluded.words;
        END IF;
    END LOOP;
END
$$
"""
THREAD_CHANGED = """
CREATE FUNCTION messaging_thread_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM messaging_mark_thread(NEW.id, NEW.in_hidden_thread OR NEW.status IN ('hidden', 'pending'));
    RETURN NULL;
END
$$
"""
# From a deleted post up to the first ancestor that does not change. The lock is a statement of its own, so that the
# next one sees the replies that were committed while it waited.
SETTLE_TOMBSTONES = """
CREATE FUNCTION messaging_settle_tombstones() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    current uuid := NEW.id;
BEGIN
    WHILE current IS NOT NULL LOOP
        PERFORM FROM messaging_message WHERE id = current FOR NO KEY UPDATE;
        UPDATE messaging_message m SET is_tombstone = NOT m.is_tombstone
        WHERE m.id = current AND m.is_tombstone <> (m.status = 'deleted' AND (m.reply_count > 0 OR EXISTS (
            SELECT FROM messaging_message reply
            WHERE reply.parent_id = m.id AND reply.status = 'deleted' AND reply.is_tombstone
        )))
        RETURNING m.parent_id INTO current;
    END LOOP;
    RETURN NULL;
END
$$
"""
FUNCTIONS = [ENTERS_THREAD, MARK_THREAD, THREAD_CHANGED, SETTLE_TOMBSTONES]
NAMES = ["reply_enters_thread()", "mark_thread(uuid, bool)", "thread_changed()", "settle_tombstones()"]
TRIGGERS = [
    """
    CREATE TRIGGER enter_thread_when_added BEFORE INSERT ON messaging_message
    FOR EACH ROW WHEN (NEW.parent_id IS NOT NULL) EXECUTE FUNCTION messaging_reply_enters_thread()
    """,
    """
    CREATE TRIGGER enter_thread_when_decided BEFORE UPDATE OF status ON messaging_message
    FOR EACH ROW WHEN (
        NEW.parent_id IS NOT NULL AND OLD.status IN ('hidden', 'pending') AND NEW.status IN ('published', 'deleted')
    )
    EXECUTE FUNCTION messaging_reply_enters_thread()
    """,
    """
    CREATE TRIGGER mark_thread AFTER UPDATE OF status ON messaging_message
    FOR EACH ROW WHEN ((OLD.status IN ('hidden', 'pending')) <> (NEW.status IN ('hidden', 'pending')))
    EXECUTE FUNCTION messaging_thread_changed()
    """,
    """
    CREATE TRIGGER settle_tombstones AFTER UPDATE OF status, reply_count ON messaging_message
    FOR EACH ROW WHEN (OLD.status = 'deleted' OR NEW.status = 'deleted')
    EXECUTE FUNCTION messaging_settle_tombstones()
    """,
]
TRIGGER_NAMES = ["enter_thread_when_added", "enter_thread_when_decided", "mark_thread", "settle_tombstones"]
DROP_TRIGGERS = [f"DROP TRIGGER {name} ON messaging_message" for name in TRIGGER_NAMES]
DROP_FUNCTIONS = [f"DROP FUNCTION messaging_{name}" for name in reversed(NAMES)]


class Migration(migrations.Migration):
    dependencies = [("messaging", "0014_indexes_of_listed_posts")]

    operations = [
        migrations.RunSQL(DERIVED, DERIVED_BEFORE),
        migrations.RunSQL(FUNCTIONS, DROP_FUNCTIONS),
        migrations.RunSQL(TRIGGERS, DROP_TRIGGERS),
    ]
