from django.db import migrations, models


class Migration(migrations.Migration):
    # By itself: a migration that locks both accounts and messages could deadlock with readers.
    dependencies = [("messaging", "0006_messages_of_a_page")]

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
