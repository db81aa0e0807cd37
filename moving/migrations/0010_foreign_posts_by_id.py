"""An index of imported posts by their foreign ids without the site: links to old anchors look them up."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Func, Value


class Migration(migrations.Migration):
    """A concurrent build, because imports write meanwhile."""

    atomic = False
    dependencies = [("moving", "0008_mark_imported_posts")]

    operations = [
        AddIndexConcurrently(
            "importedpost",
            models.Index(
                "community",
                Func(F("source_id"), Value("[^ ]*$"), function="substring"),
                name="foreign_posts_by_id",
            ),
        )
    ]
