from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F


class Migration(migrations.Migration):
    """Built beside reads and writes."""

    atomic = False
    dependencies = [("messaging", "0005_handed_out_and_moved_pages")]

    operations = [
        AddIndexConcurrently(
            model_name="message",
            index=models.Index("page", F("created_at").desc(), F("id").desc(), name="messages_of_page"),
        ),
    ]
