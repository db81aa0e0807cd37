"""The community in which the account of a site writes. An older release inserts accounts of people, without one."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Nullable without a default, so the table is not rewritten."""

    dependencies = [
        ("messaging", "0063_operator_review"),
    ]

    operations = [
        migrations.AddField(
            model_name="account",
            name="site_community",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="messaging.community",
            ),
        ),
    ]
