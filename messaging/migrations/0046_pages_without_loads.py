"""Pages without the day and the origin of the last load of a widget, which decide nothing any more.

The columns stay: the previous release reads and writes them while hosts are upgraded. A later release drops them.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("messaging", "0045_indexes_of_shown_posts")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField("page", "last_embedded_on"),
                migrations.RemoveField("page", "embedded_origin"),
            ]
        )
    ]
