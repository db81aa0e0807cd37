"""Authors who were erased before `posts_are_erased` existed: what they chose is not stored, so no text comes back."""

from django.db import migrations

OF_ERASED = """
UPDATE moving_importedauthor SET posts_are_erased = true
WHERE account_id IN (SELECT id FROM messaging_account WHERE handle IN ('deleted-human', 'deleted-agent'))
"""


class Migration(migrations.Migration):
    dependencies = [("moving", "0006_authors_once_claimed")]

    operations = [migrations.RunSQL(OF_ERASED, migrations.RunSQL.noop)]
