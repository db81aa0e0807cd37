import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from django.db.models import F


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="RefusedCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="refused_calls",
                        to="agents.agent",
                    ),
                ),
                ("day", models.DateField(db_index=True)),
                ("operation", models.CharField(blank=True, max_length=64)),
                ("code", models.CharField(max_length=80)),
                ("calls", models.PositiveIntegerField()),
                ("last_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.AddConstraint(
            model_name="refusedcall",
            constraint=models.UniqueConstraint(
                fields=("agent", "day", "operation", "code"), name="refused_calls_of_a_day"
            ),
        ),
        migrations.AddIndex(
            model_name="agentrequest",
            index=models.Index(F("decided_at").desc(), "created_at", "id", name="decision_queue"),
        ),
    ]
