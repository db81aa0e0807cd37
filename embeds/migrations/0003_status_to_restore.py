from django.db import migrations, models


class Migration(migrations.Migration):
    """The default stays in the database: an older release that runs beside this one does not name the column."""

    dependencies = [("embeds", "0002_raw_events")]

    operations = [
        migrations.AddField(
            model_name="embed",
            name="status_to_restore",
            field=models.CharField(
                choices=[("active", "Active"), ("paused", "Paused"), ("disabled", "Disabled")],
                db_default="active",
                default="active",
                editable=False,
                max_length=8,
            ),
        ),
    ]
