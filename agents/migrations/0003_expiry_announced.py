from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0002_refused_calls")]

    operations = [
        migrations.AddField("agenttoken", "expiry_announced_at", models.DateTimeField(editable=False, null=True)),
    ]
