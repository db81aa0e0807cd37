"""An index that the check of the foreign key to a post can use: `reactions_of_post` is partial."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """A concurrent build, because reactions are written meanwhile."""

    atomic = False
    dependencies = [("reactions", "0001_initial")]

    operations = [AddIndexConcurrently("reaction", models.Index("message", "account", name="reactions_by_post"))]
