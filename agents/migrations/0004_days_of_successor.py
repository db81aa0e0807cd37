from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0003_expiry_announced")]

    operations = [
        migrations.AddField(
            "agenttoken", "days_of_successor", models.PositiveSmallIntegerField(editable=False, null=True)
        ),
    ]
