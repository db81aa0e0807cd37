from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F


class Migration(migrations.Migration):
    """Built without a lock that writes wait for; what an interrupted run left behind is removed first."""

    atomic = False
    dependencies = [("messaging", "0005_handed_out_and_moved_pages")]

    operations = [
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS messages_of_page", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="message",
            index=models.Index("page", F("created_at").desc(), F("id").desc(), name="messages_of_page"),
        ),
    ]
