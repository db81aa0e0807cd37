from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0003_indexes_of_replies_alone"),
        ("sessions", "0001_initial"),
        ("token_blacklist", "0013_alter_blacklistedtoken_options_and_more"),
    ]

    operations = [
        # Sessions are stored under a digest of the cookie; those under the cookie itself end.
        migrations.RunSQL("DELETE FROM django_session", migrations.RunSQL.noop),
        # Only the ids of tokens are needed.
        migrations.RunSQL(
            "UPDATE token_blacklist_outstandingtoken SET token = '' WHERE token <> ''", migrations.RunSQL.noop
        ),
        # Last, since it locks the table of accounts until the migration is committed.
        migrations.AddField(
            model_name="account",
            name="sessions_valid_from",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
