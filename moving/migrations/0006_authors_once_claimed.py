"""A foreign author whom a person has claimed has a further row for the posts of later files."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0040_texts_of_deleted_posts"),
        ("moving", "0005_posts_are_erased"),
    ]

    operations = [
        migrations.RemoveConstraint("importedauthor", "foreign_author_once"),
        migrations.AddIndex(
            "importedauthor",
            models.Index("community", "format", "source_id", name="rows_of_foreign_author"),
        ),
        migrations.AddConstraint(
            "importedauthor",
            models.UniqueConstraint(
                fields=["community", "format", "source_id"], condition=Q(claimed_at=None), name="unclaimed_author_once"
            ),
        ),
    ]
