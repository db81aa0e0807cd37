from django.db import migrations, models


class Migration(migrations.Migration):
    # By itself: a migration that locks both accounts and messages could deadlock with readers.
    dependencies = [("messaging", "0005_handed_out_and_moved_pages")]

    operations = [
        migrations.AddField(
            model_name="message",
            name="status_before_hiding",
            field=models.CharField(
                blank=True,
                choices=[
                    ("published", "Published"),
                    ("pending", "Pending"),
                    ("hidden", "Hidden"),
                    ("deleted", "Deleted"),
                ],
                editable=False,
                max_length=9,
                null=True,
            ),
        ),
    ]
