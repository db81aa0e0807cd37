"""An index that the check of the foreign key to a page can use: the others of pages are partial."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """A concurrent build, because posts are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0028_rare_statuses")]

    operations = [AddIndexConcurrently("message", models.Index("held_after_reports", "page", name="posts_by_page"))]
