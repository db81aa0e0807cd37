from django.db import migrations, models
from django.db.models.functions import Now

FOREIGN_KEY = """
ALTER TABLE jobs_jobnote ADD CONSTRAINT job_of_note
FOREIGN KEY (job_id) REFERENCES procrastinate_jobs (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = [("procrastinate", "0041_post_retry_failed_job")]
    operations = [
        migrations.CreateModel(
            name="JobNote",
            fields=[
                ("job_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("host", models.CharField(blank=True, max_length=40)),
                ("error", models.CharField(blank=True, db_default="", default="", max_length=300)),
                ("at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.RunSQL(FOREIGN_KEY, "ALTER TABLE jobs_jobnote DROP CONSTRAINT job_of_note"),
        migrations.CreateModel(
            name="QueuedJob",
            fields=[],
            options={"verbose_name": "background job", "proxy": True, "indexes": [], "constraints": []},
            bases=("procrastinate.procrastinatejob",),
        ),
    ]
