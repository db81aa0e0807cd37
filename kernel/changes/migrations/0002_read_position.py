from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("changes", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="ReadPosition",
            fields=[
                ("account_id", models.UUIDField(primary_key=True, serialize=False)),
                ("generation", models.SmallIntegerField()),
                ("xid", models.BigIntegerField()),
                ("row_id", models.BigIntegerField()),
            ],
        ),
    ]
