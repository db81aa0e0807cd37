"""Sign-ins of people, which super admins and the person may see for some time."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from messaging.models.account import Account

# An IPv6 network.
NETWORK_MAX = 43
FACTOR_MAX = 13


class Door(models.TextChoices):
    PAGES = "pages"
    API = "api", "API"
    WIDGET = "panel", "widget"


class Factor(models.TextChoices):
    """What proves who signs in."""

    PASSWORD = "password", "password"
    PROVIDER = "provider", "OpenID Connect provider"
    PASSKEY = "passkey", "passkey"
    APP = "app", "code of an app"
    RECOVERY_CODE = "recovery_code", "recovery code"
    # Which code was expected is not known when it is wrong.
    CODE = "code", "code"


class SignIn(models.Model):
    """A sign-in, or one that was refused because a password, code or passkey was wrong, or a code did not follow.

    Nothing that was typed is stored, so a refused one has no account if it named none.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, null=True, db_index=False, related_name="+")
    at = models.DateTimeField("time", db_default=Now(), editable=False)
    # Truncated: /24 of IPv4, /48 of IPv6. Empty if the server does not know the address.
    network = models.CharField(max_length=NETWORK_MAX, blank=True)
    door = models.CharField(max_length=5, choices=Door)
    first = models.CharField(max_length=FACTOR_MAX, choices=Factor)
    second = models.CharField(max_length=FACTOR_MAX, choices=Factor, blank=True)
    # The last factor was wrong, or has not followed.
    refused = models.BooleanField(default=False)
    # Refused because the second factor has not followed the first one, which was right.
    unfinished = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["-id"]
        verbose_name = "sign-in"
        indexes = [
            models.Index("account", F("id").desc(), name="sign_ins_of_account"),
            models.Index("at", name="old_sign_ins"),
            # Of an account that strangers attack, nearly all rows are refused ones.
            models.Index("account", "network", condition=Q(refused=False), name="sign_in_networks"),
            models.Index(F("id").desc(), condition=Q(refused=True), name="refused_sign_ins"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(door__in=Door.values), name="sign_in_door_known"),
            models.CheckConstraint(condition=Q(first__in=Factor.values), name="sign_in_first_known"),
            models.CheckConstraint(condition=Q(second__in=["", *Factor.values]), name="sign_in_second_known"),
        ]

    def __str__(self) -> str:
        return f"sign-in {self.pk}"
