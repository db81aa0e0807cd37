"""Names in Python alone: the table `api_ledgerentry` and the column `sealed` stay, for releases that know no others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("api", "0004_secret_fingerprints")]

    operations = [
        migrations.AlterModelTable(name="ledgerentry", table="api_ledgerentry"),
        migrations.RenameModel(old_name="LedgerEntry", new_name="RateLimitEvent"),
        migrations.AlterField(model_name="storedresponse", name="sealed", field=models.BinaryField(db_column="sealed")),
        migrations.RenameField(model_name="storedresponse", old_name="sealed", new_name="encrypted_body"),
    ]
