from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("next_release", "0002_one_more_column")]

    operations = [migrations.CreateModel("Note", [("words", models.TextField())])]
