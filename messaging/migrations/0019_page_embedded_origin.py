"""The origin of a page that has a widget, to which its permalinks lead. An older release leaves it as it is."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0018_reports"),
    ]

    operations = [
        migrations.AddField(
            model_name="page",
            name="embedded_origin",
            field=models.TextField(editable=False, null=True),
        ),
    ]
