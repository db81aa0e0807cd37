from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

from tests.faults.next_release import INDEX


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("next_release", "0003_note")]

    operations = [AddIndexConcurrently("note", models.Index(fields=["words"], name=INDEX))]
