"""An index of the history of the admin by the row that an entry is about, newest first. Django has none."""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class AddIndexToAdmin(AddIndexConcurrently):
    """The models of Django's admin do not change, or `makemigrations` would remove the index."""

    def state_forwards(self, app_label: str, state: Any) -> None:
        pass

    def database_forwards(self, app_label: str, *args: Any) -> None:
        super().database_forwards("admin", *args)

    def database_backwards(self, app_label: str, *args: Any) -> None:
        super().database_backwards("admin", *args)


class Migration(migrations.Migration):
    """A concurrent build, because decisions are logged meanwhile."""

    atomic = False
    dependencies = [
        ("messaging", "0035_changed_rows"),
        ("admin", "0003_logentry_add_action_flag_choices"),
    ]

    operations = [
        AddIndexToAdmin(
            "logentry",
            models.Index("content_type", "object_id", models.F("id").desc(), name="log_entries_about"),
        )
    ]
