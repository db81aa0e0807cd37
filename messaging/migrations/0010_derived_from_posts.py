"""Counts and search entries that triggers derive from posts, and the day on which a page had a widget.

Safe beside an older release: its writes run the triggers too, and it names none of the tables. Creating a trigger
locks the table of posts for a moment. Migration 0012 derives the rows of the posts that exist.
"""

import django.contrib.postgres.indexes
import django.contrib.postgres.search
from django.db import migrations, models
from django.db.models import F, Q

# Lower case, without accents; each CJK character and emoji is a word of its own, because PostgreSQL's parser takes a
# run of them for one word. It also takes every character outside ASCII for a letter, so other marks become blanks. The
# marks of ASCII stay: in a query they are operators. Code points instead of classes: those depend on the locale.
PLAIN_TEXT = r"""
CREATE FUNCTION messaging_plain_text(original text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(original) = char_length(original) THEN lower(original) ELSE
        regexp_replace(regexp_replace(regexp_replace(
            lower(normalize(original, NFKD)),
            '[\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2069\u3099\u309a\ufe00-\ufe0f\ufeff]', '', 'g'),
            '[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u055a-\u055f\u0589\u05be\u05c0\u05c3\u05f3\u05f4'
            || '\u060c\u061b\u061e\u061f\u066a-\u066d\u06d4\u0964\u0965\u2000-\u206f\u20a0-\u20cf\u2190-\u25ff\u27c0-\u2bff'
            || '\u2e00-\u2e7f\u3000-\u303f\u30a0\u30fb\ufd3e\ufd3f\ufffc\ufffd]', ' ', 'g'),
            '([\u2600-\u27bf\u2e80-\u2fdf\u3041-\u3098\u309b-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff'
            || '\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001f000-\U0001faff\U00020000-\U0003fffd])', ' \1 ', 'g')
    END
$$
"""
# The text and the texts in the payload. PostgreSQL refuses a tsvector of a megabyte; 100,000 characters have less.
SEARCH_WORDS = r"""
CREATE FUNCTION messaging_search_words(content text, payload jsonb) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF payload IS NOT NULL THEN
        content := concat_ws(' ', content, (
            SELECT string_agg(member #>> '{}', ' ')
            FROM jsonb_path_query(payload, 'strict $.** ? (@.type() == "string")') member
        ));
    END IF;
    RETURN to_tsvector('simple', regexp_replace(
        left(messaging_plain_text(content), 100000),
        '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+', ' ', 'g'
    ));
END
$$
"""
COUNT_POST = """
CREATE FUNCTION messaging_count_posts(page varchar, community uuid, new_posts bigint, new_replies bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO messaging_pagecount AS counted (page_id, slot, posts, replies)
    VALUES (page, pg_backend_pid() % 16, new_posts, new_replies)
    ON CONFLICT (page_id, slot) DO UPDATE
        SET posts = counted.posts + excluded.posts, replies = counted.replies + excluded.replies;
    IF community IS NOT NULL THEN
        INSERT INTO messaging_communitycount AS counted (community_id, slot, posts, replies)
        VALUES (community, pg_backend_pid() % 16, new_posts, new_replies)
        ON CONFLICT (community_id, slot) DO UPDATE
            SET posts = counted.posts + excluded.posts, replies = counted.replies + excluded.replies;
    END IF;
END
$$
"""
# One statement may insert very many posts: they are counted together.
POSTS_ADDED = """
CREATE FUNCTION messaging_posts_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM messaging_count_posts(page_id, community_id, count(*) - count(parent_id), count(parent_id))
    FROM added WHERE status = 'published' GROUP BY page_id, community_id ORDER BY page_id, community_id;
    INSERT INTO messaging_searchentry (message_id, page_id, community_id, created_at, words)
    SELECT id, page_id, community_id, created_at, messaging_search_words(content, payload)
    FROM added WHERE status = 'published';
    RETURN NULL;
END
$$
"""
# A page is moved with all its posts; `messaging.pages.moving` moves their number and their search entries.
# PostgreSQL refuses to change the type of a column that a trigger names, so the trigger does not name the page.
POST_CHANGED = """
CREATE FUNCTION messaging_post_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_public bool := OLD.status = 'published';
    is_public bool := TG_OP = 'UPDATE' AND NEW.status = 'published';
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
ADDED = """
CREATE TRIGGER derive_from_added_posts AFTER INSERT ON messaging_message REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION messaging_posts_added()
"""
# Not run by changes of the counts of a post, which name none of these columns.
CHANGED = """
CREATE TRIGGER derive_from_changed_posts AFTER UPDATE OF status, content, payload ON messaging_message
FOR EACH ROW WHEN (
    (OLD.status = 'published' OR NEW.status = 'published')
    AND (OLD.status, OLD.content, OLD.payload) IS DISTINCT FROM (NEW.status, NEW.content, NEW.payload)
)
EXECUTE FUNCTION messaging_post_changed()
"""
DELETED = """
CREATE TRIGGER derive_from_deleted_posts AFTER DELETE ON messaging_message
FOR EACH ROW WHEN (OLD.status = 'published') EXECUTE FUNCTION messaging_post_changed()
"""
DROP_TRIGGERS = [
    f"DROP TRIGGER derive_from_{which}_posts ON messaging_message" for which in ("added", "changed", "deleted")
]
# Room in each page of the table, so that a count is changed without touching its index.
ROOM = [f"ALTER TABLE messaging_{table} SET (fillfactor = 70)" for table in ("pagecount", "communitycount")]


def count_fields(owner: str, field: models.Field) -> list[tuple[str, models.Field]]:
    return [
        ("slot", models.SmallIntegerField()),
        ("posts", models.IntegerField()),
        ("replies", models.IntegerField()),
        (
            "pk",
            models.CompositePrimaryKey(owner, "slot", blank=True, editable=False, primary_key=True, serialize=False),
        ),
        (owner, field),
    ]


class Migration(migrations.Migration):
    dependencies = [("messaging", "0009_webhook_reasons")]

    operations = [
        migrations.AddField("page", "last_embedded_on", models.DateField(editable=False, null=True)),
        migrations.CreateModel("PageCount", count_fields("page_id", models.CharField(max_length=35))),
        migrations.CreateModel("CommunityCount", count_fields("community_id", models.UUIDField())),
        migrations.CreateModel(
            "SearchEntry",
            [
                ("message_id", models.UUIDField(primary_key=True, serialize=False)),
                ("page_id", models.CharField(max_length=35)),
                ("community_id", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField()),
                ("words", django.contrib.postgres.search.SearchVectorField()),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["words"], name="search_words", gin_pending_list_limit=512
                    ),
                    models.Index(
                        F("created_at").desc(), F("message_id").desc(), condition=~Q(page_id=""), name="search_newest"
                    ),
                    models.Index(
                        "page_id", F("created_at").desc(), F("message_id").desc(), name="search_newest_of_page"
                    ),
                    models.Index(
                        *("community_id", F("created_at").desc(), F("message_id").desc()),
                        condition=Q(community_id__isnull=False),
                        name="search_newest_of_community",
                    ),
                ],
            },
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
        migrations.RunSQL([PLAIN_TEXT], ["DROP FUNCTION messaging_plain_text"]),
        migrations.RunSQL([SEARCH_WORDS], ["DROP FUNCTION messaging_search_words"]),
        migrations.RunSQL([COUNT_POST], ["DROP FUNCTION messaging_count_posts"]),
        migrations.RunSQL([POSTS_ADDED], ["DROP FUNCTION messaging_posts_added"]),
        migrations.RunSQL([POST_CHANGED], ["DROP FUNCTION messaging_post_changed"]),
        migrations.RunSQL([ADDED, CHANGED, DELETED], DROP_TRIGGERS),
    ]
