"""Sign-ins in the window of the widget, which were listed as those of the API."""

from django.db import migrations, models

DOORS = [("pages", "Pages"), ("api", "API"), ("panel", "widget")]
# The constraint of before, which a reversal restores, refuses that of the widget.
RENAME = "UPDATE messaging_signin SET door = 'api' WHERE door = 'panel'"


class Migration(migrations.Migration):
    dependencies = [("messaging", "0059_webhooks_of_before")]

    operations = [
        migrations.RemoveConstraint("signin", "sign_in_door_known"),
        migrations.AlterField("signin", "door", models.CharField(choices=DOORS, max_length=5)),
        migrations.AddConstraint(
            "signin",
            models.CheckConstraint(
                condition=models.Q(door__in=[name for name, _label in DOORS]), name="sign_in_door_known"
            ),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, RENAME),
    ]
