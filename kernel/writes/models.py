"""Stored responses of Idempotency-Keys, events of hourly limits, and fingerprints of secrets."""

from __future__ import annotations

from django.db import models


class StoredResponse(models.Model):
    """The first 2xx response of a write with an Idempotency-Key.

    The row has no raw key, and `encrypted_body` can only be decrypted with the client's key.
    """

    key_mac = models.BinaryField(primary_key=True, max_length=32)
    body_mac = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField()
    location = models.TextField(blank=True)
    encrypted_body = models.BinaryField(db_column="sealed")
    created_at = models.DateTimeField(db_index=True)


class RateLimitEvent(models.Model):
    """One charge to an hourly limit. `account_id` is no foreign key, so that an insert locks no account."""

    account_id = models.UUIDField()
    counter = models.CharField(max_length=16)
    at = models.DateTimeField()

    class Meta:
        db_table = "api_ledgerentry"
        indexes = [
            models.Index(fields=["account_id", "counter", "-at"], name="ledger_window"),
            models.Index(fields=["at"], name="ledger_age"),
        ]


class SecretFingerprint(models.Model):
    """The fingerprint of a secret (`kernel.fingerprints`). `name` is a setting such as ROOT_KEY."""

    name = models.CharField(max_length=32, primary_key=True)
    fingerprint = models.BinaryField(max_length=32)
    updated_at = models.DateTimeField()
