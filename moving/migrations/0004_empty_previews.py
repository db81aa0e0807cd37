"""Empties the previews that earlier releases have stored beyond the check (see `moving.models.Move.preview`)."""

from django.db import migrations

EMPTY = """
UPDATE moving_move SET preview = '[]'
WHERE preview <> '[]' AND (NOT has_upload OR status NOT IN ('uploaded', 'checked', 'failed'))
"""


class Migration(migrations.Migration):
    dependencies = [("moving", "0003_lacks_reactions")]

    operations = [migrations.RunSQL(EMPTY, migrations.RunSQL.noop)]
