from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("api", "0003_one_stored_response")]

    operations = [
        migrations.CreateModel(
            name="SecretFingerprint",
            fields=[
                ("name", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("fingerprint", models.BinaryField(max_length=32)),
                ("updated_at", models.DateTimeField()),
            ],
        ),
    ]
