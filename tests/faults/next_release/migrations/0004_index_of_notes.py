from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

from tests.faults.next_release import INDEX


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("next_release", "0003_note")]

    # With an operation of another kind, as where a migration fills the column before.
    operations = [
        migrations.RunPython(migrations.RunPython.noop, migrations.RunPython.noop),
        AddIndexConcurrently("note", models.Index(fields=["words"], name=INDEX)),
    ]
