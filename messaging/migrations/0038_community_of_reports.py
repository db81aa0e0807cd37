"""A copy of the community of a reported post, set by a trigger: an older release inserts none."""

from django.db import migrations, models

FUNCTION = """
CREATE FUNCTION messaging_community_of_report() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.community_id := (SELECT community_id FROM messaging_message WHERE id = NEW.message_id);
    RETURN NEW;
END
$$
"""
TRIGGER = """
CREATE TRIGGER community_of_report BEFORE INSERT ON messaging_report
FOR EACH ROW EXECUTE FUNCTION messaging_community_of_report()
"""


class Migration(migrations.Migration):
    dependencies = [("messaging", "0037_community_queue")]

    operations = [
        migrations.AddField("report", "community_id", models.UUIDField(editable=False, null=True)),
        migrations.RunSQL(FUNCTION, "DROP FUNCTION messaging_community_of_report()"),
        migrations.RunSQL(TRIGGER, "DROP TRIGGER community_of_report ON messaging_report"),
    ]
