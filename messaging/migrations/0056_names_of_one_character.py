from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("messaging", "0055_renderings")]

    operations = [migrations.AlterField("account", "name", models.CharField(max_length=60))]
