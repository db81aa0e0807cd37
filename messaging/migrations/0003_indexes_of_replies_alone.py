from django.db import migrations, models
from django.db.models import F, Q

REPLIES = Q(status="published") & Q(parent__isnull=False)


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0002_handle_skeleton"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="message", name="newest_messages"),
        migrations.RemoveIndex(model_name="message", name="post_replies"),
        migrations.RemoveIndex(model_name="message", name="top_reply"),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                "parent", F("created_at").desc(), F("id").desc(), condition=REPLIES, name="post_replies"
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                "parent", F("reaction_total").desc(), "created_at", "id", condition=REPLIES, name="top_reply"
            ),
        ),
    ]
