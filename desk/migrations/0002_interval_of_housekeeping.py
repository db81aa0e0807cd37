from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("desk", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="rollup",
            name="interval_minutes",
            field=models.IntegerField(null=True),
        ),
    ]
