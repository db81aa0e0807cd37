from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0054_count_earlier_posts_of_communities")]

    operations = [migrations.AlterField("account", "name", models.CharField(max_length=60))]
