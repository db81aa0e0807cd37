"""Texts of posts as HTML, which feeds and pages of permalinks store when they first read them.

Safe beside an older release, whose edits and erasures run the trigger too.
"""

from django.db import migrations, models

FORGET = """
CREATE FUNCTION messaging_forget_renderings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM messaging_rendering WHERE message_id = OLD.id;
    RETURN NULL;
END
$$
"""
CHANGED = """
CREATE TRIGGER forget_renderings_of_changed AFTER UPDATE OF content ON messaging_message
FOR EACH ROW WHEN (OLD.content IS DISTINCT FROM NEW.content) EXECUTE FUNCTION messaging_forget_renderings()
"""
DELETED = """
CREATE TRIGGER forget_renderings_of_deleted AFTER DELETE ON messaging_message
FOR EACH ROW EXECUTE FUNCTION messaging_forget_renderings()
"""
DROP = [f"DROP TRIGGER forget_renderings_of_{which} ON messaging_message" for which in ("changed", "deleted")]


class Migration(migrations.Migration):
    dependencies = [("messaging", "0054_count_earlier_posts_of_communities")]

    operations = [
        migrations.CreateModel(
            "Rendering",
            [
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "message_id", "source", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("message_id", models.UUIDField()),
                ("source", models.BinaryField()),
                ("renderer", models.BigIntegerField()),
                ("html", models.TextField()),
                ("plain", models.TextField()),
            ],
        ),
        migrations.RunSQL([FORGET, CHANGED, DELETED], [*DROP, "DROP FUNCTION messaging_forget_renderings"]),
    ]
