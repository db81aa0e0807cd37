"""PostgreSQL builds and analyzes indexes with `pg_catalog` as the only schema (since 17): a function of an index that
calls another one of ours has to name where that is found."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("messaging", "0031_unfinished_sign_ins")]

    operations = [
        migrations.RunSQL(
            "ALTER FUNCTION messaging_search_words(text, jsonb) SET search_path FROM CURRENT",
            "ALTER FUNCTION messaging_search_words(text, jsonb) RESET search_path",
        )
    ]
