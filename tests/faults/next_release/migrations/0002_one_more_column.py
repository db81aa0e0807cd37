from typing import Any

from django.db import migrations

from tests.faults.next_release import DROP_OPEN_UNIT, OPEN_UNIT, with_one_more_column


def add(_apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(OPEN_UNIT)
        more, _as_it_was = with_one_more_column(cursor.fetchone()[0])
        cursor.execute(more)


def remove(_apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(OPEN_UNIT)
        definition = cursor.fetchone()[0]
        definition = definition.replace("release integer, ", "", 1).replace("SELECT 2, ", "SELECT ", 1)
        cursor.execute(DROP_OPEN_UNIT + definition)


class Migration(migrations.Migration):
    dependencies = [("next_release", "0001_wider_columns"), ("api", "0003_one_stored_response")]

    operations = [migrations.RunPython(add, remove)]
