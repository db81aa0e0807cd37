"""An index of the networks that accounts have signed in from."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """A concurrent build, because people sign in meanwhile."""

    atomic = False
    dependencies = [("messaging", "0054_count_earlier_posts_of_communities")]

    operations = [
        AddIndexConcurrently(
            "signin",
            models.Index("account", "network", condition=models.Q(refused=False), name="sign_in_networks"),
        )
    ]
