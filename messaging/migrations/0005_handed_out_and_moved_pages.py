from django.db import migrations, models


class Migration(migrations.Migration):
    """Safe beside an older release: it names neither the column nor the table, and null means what it knows."""

    dependencies = [("messaging", "0004_ended_sessions")]

    operations = [
        migrations.AddField(
            model_name="page",
            name="handed_out_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.CreateModel(
            name="MovedPage",
            fields=[
                ("old_id", models.CharField(max_length=35, primary_key=True, serialize=False)),
                ("page_id", models.CharField(db_index=True, max_length=35)),
            ],
        ),
    ]
