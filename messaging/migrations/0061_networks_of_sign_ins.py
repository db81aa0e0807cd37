"""An index of the networks that accounts have signed in from."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """A concurrent build, because people sign in meanwhile."""

    atomic = False
    dependencies = [("messaging", "0060_sign_ins_in_the_widget")]

    operations = [
        AddIndexConcurrently(
            "signin",
            models.Index("account", "network", condition=models.Q(refused=False), name="sign_in_networks"),
        )
    ]
