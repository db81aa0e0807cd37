"""An index that the check of the foreign key to a parent can use: the others of replies are partial."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """A concurrent build, because posts are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0024_imported_score")]

    operations = [
        AddIndexConcurrently(
            "message",
            models.Index("parent", "status", condition=Q(parent__isnull=False), name="replies_of_post"),
        )
    ]
