"""An index of the posts of an author in their order, which takes the place of that of the foreign key."""

import django.db.models.deletion
from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

FORMER = "messaging_message_author_id_40198c92"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("messaging", "0022_personal_data")]

    operations = [
        AddIndexConcurrently("message", models.Index("author", "id", name="posts_of_author")),
        # AlterField would also create the constraint again, and check all posts for it.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="message",
                    name="author",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="messages",
                        to=settings.AUTH_USER_MODEL,
                    ),
                )
            ],
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {FORMER}",
                    f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {FORMER} ON messaging_message (author_id)",
                )
            ],
        ),
    ]
