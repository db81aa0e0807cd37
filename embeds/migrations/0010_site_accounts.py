"""Accounts of sites: what the owner chooses, secrets, and what sites say about their readers."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """The defaults stay in the database: an older release that runs beside this one does not name the columns."""

    dependencies = [
        ("embeds", "0009_schemes_of_sightings"),
        ("messaging", "0064_site_community"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SiteAccount",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="site_account",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("subject", models.CharField(max_length=255)),
                ("email", models.CharField(blank=True, max_length=254)),
                ("is_moderator", models.BooleanField(default=False)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
                (
                    "signed_in_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SiteSecret",
            fields=[
                (
                    "embed",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="site_secret",
                        serialize=False,
                        to="embeds.embed",
                    ),
                ),
                ("secret", models.BinaryField()),
                ("previous_secret", models.BinaryField(null=True)),
                ("previous_secret_until", models.DateTimeField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
            ],
        ),
        migrations.CreateModel(
            name="UsedSiteToken",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "embed_id", "digest", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("embed_id", models.UUIDField()),
                ("digest", models.BinaryField(max_length=32)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.AddField(
            model_name="embed",
            name="jwks_url",
            field=models.CharField(blank=True, db_default="", default="", max_length=2048),
        ),
        migrations.AddField(
            model_name="embed",
            name="sign_in",
            field=models.CharField(
                choices=[("own", "Own"), ("both", "Both"), ("service", "Service")],
                db_default="service",
                default="service",
                max_length=7,
            ),
        ),
        migrations.AddField(
            model_name="embed",
            name="sign_in_url",
            field=models.CharField(blank=True, db_default="", default="", max_length=2048),
        ),
        migrations.AddConstraint(
            model_name="embed",
            constraint=models.CheckConstraint(
                condition=models.Q(("sign_in__in", ["own", "both", "service"])), name="embed_sign_in_known"
            ),
        ),
        migrations.AddField(
            model_name="siteaccount",
            name="community",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="messaging.community"
            ),
        ),
        migrations.AddConstraint(
            model_name="siteaccount",
            constraint=models.UniqueConstraint(fields=("community", "subject"), name="one_account_of_subject"),
        ),
        migrations.AddIndex(
            model_name="siteaccount",
            index=models.Index(
                models.F("email"), condition=models.Q(("email", ""), _negated=True), name="site_accounts_by_address"
            ),
        ),
    ]
