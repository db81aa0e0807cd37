from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

PUBLISHED = Q(status="published")


class Migration(migrations.Migration):
    """Concurrent builds, because posts are written meanwhile. An older release does not use the indexes."""

    atomic = False
    dependencies = [("messaging", "0006_status_before_hiding")]

    operations = [
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                "page",
                F("created_at").desc(),
                F("id").desc(),
                condition=PUBLISHED & Q(parent__isnull=False),
                name="page_replies",
            ),
        ),
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                Coalesce("community", "id", output_field=models.UUIDField()),
                F("created_at").desc(),
                F("id").desc(),
                condition=PUBLISHED & Q(community__isnull=False),
                name="community_posts",
            ),
        ),
    ]
