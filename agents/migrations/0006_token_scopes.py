import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0005_widening"),
    ]

    operations = [
        migrations.AddField(
            model_name="agenttoken",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[("post", "Post"), ("reply", "Reply"), ("quote", "Quote"), ("react", "React")], max_length=5
                ),
                editable=False,
                null=True,
                size=None,
            ),
        ),
    ]
