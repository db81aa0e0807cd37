"""An index of the words of pending and hidden posts, by which the admin finds them. Those of published posts have one."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations
from django.db.models import Func, Q


class Migration(migrations.Migration):
    """A concurrent build, because posts are written meanwhile."""

    atomic = False
    dependencies = [("messaging", "0032_path_of_search_words")]

    operations = [
        AddIndexConcurrently(
            "message",
            GinIndex(
                Func("content", "payload", function="messaging_search_words"),
                condition=Q(status__in=("pending", "hidden")),
                name="words_of_unpublished",
                gin_pending_list_limit=512,
            ),
        )
    ]
