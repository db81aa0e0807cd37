"""An index of hidden and deleted posts: the admin counts them beside its filters."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """A concurrent build, because posts are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0027_desk_reasons_and_sign_ins")]

    operations = [
        AddIndexConcurrently(
            "message",
            models.Index("status", "id", condition=Q(status__in=("hidden", "deleted")), name="rare_statuses"),
        )
    ]
