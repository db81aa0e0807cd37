"""An index of the posts of an author that are not published, for their own list of them."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """A concurrent build, because posts are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0061_networks_of_sign_ins")]

    operations = [
        AddIndexConcurrently(
            "message",
            models.Index("author", "status", "id", condition=~Q(status="published"), name="unpublished_of_author"),
        )
    ]
