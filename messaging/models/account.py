"""Sign-ins of people, which super admins and the person may see for some time.

Handles of erased accounts, which are never given again, without storing them: a keyed digest of each.

The key is random, and stored encrypted under the root key, so that a copy of the database alone cannot be searched for
handles, and a rotation of the root key encrypts one value again instead of all digests.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import PermissionsMixin
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import IntegrityError, models, transaction
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Now, Replace
from django.utils import timezone

from kernel import fingerprints
from kernel.api.exception_handler import invalid_input
from kernel.api.ids import new_id
from kernel.api.stored_secrets import SecretLost, decrypt
from kernel.database.sql import database_now
from messaging.accounts.confusables import DROPPED, PAIRS, READ, SEEN
from messaging.accounts.deleted import DELETED_HANDLE
from messaging.accounts.exceptions import HandleTaken
from messaging.accounts.names import Named

PURPOSE = "erased-handles"
logger = logging.getLogger(__name__)


class ErasedHandleKey(models.Model):
    """The key of the digests, one row, encrypted."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    encrypted_key = models.BinaryField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_key_of_erased_handles")]

    @classmethod
    def read(cls) -> bytes | None:
        """None if no handle was erased, or if the root key is lost and the key with it."""
        row = cls.objects.first()
        if row is None:
            return None
        with suppress(SecretLost):
            return decrypt(PURPOSE, row.encrypted_key)
        logger.error("the key of the erased handles cannot be decrypted: they can be claimed again")
        return None


class ErasedHandle(models.Model):
    digest = models.BinaryField(primary_key=True, max_length=32)

    @classmethod
    def contains(cls, handle: str) -> bool:
        key = ErasedHandleKey.read()
        return key is not None and cls.objects.filter(digest=digest_of(handle, key)).exists()


def digest_of(handle: str, key: bytes) -> bytes:
    return hmac.digest(key, handle.encode(), hashlib.sha256)


HANDLE_MIN = 3
HANDLE_MAX = 30
NAME_MAX = 60
HANDLE = re.compile(rf"[a-z0-9_]{{{HANDLE_MIN},{HANDLE_MAX}}}\Z")
# Nobody can claim a handle with a hyphen: the heirs of erased people and the command line have one.
OF_SERVICE = Q(handle__contains="-")
CAN_ACT = Q(is_active=True, erasure_due_at=None)


class AccountKind(models.TextChoices):
    HUMAN = "human"
    AGENT = "agent"


def _skeleton() -> Func[Any]:
    """`messaging.accounts.confusables.skeleton` of the handle as an SQL expression."""
    read: Func[Any] = Func(
        F("handle"), Value(SEEN + DROPPED), Value(READ), function="TRANSLATE", output_field=models.CharField()
    )
    for pair, letter in PAIRS:
        read = Replace(read, Value(pair), Value(letter))
    return read


class HandleClaim(models.Model):
    """The namespace of handles of people, agents and pending agent requests; the first insert claims a handle."""

    handle = models.CharField(primary_key=True, max_length=HANDLE_MAX)
    claimed_at = models.DateTimeField(default=timezone.now)
    skeleton = models.GeneratedField(
        expression=_skeleton(), output_field=models.CharField(max_length=HANDLE_MAX), db_persist=True
    )

    class Meta:
        indexes = [models.Index("skeleton", name="handle_skeleton")]

    @classmethod
    @transaction.atomic
    def claim(cls, handle: str, *, field: str = "handle") -> None:
        """Raises HandleTaken (409) of this field, also for the handle of an erased account."""
        try:
            with transaction.atomic():
                cls.objects.create(handle=handle)
        except IntegrityError:
            raise HandleTaken(field=field) from None
        # After the insert, which waits for an erasure that is about to commit.
        if handle == DELETED_HANDLE or ErasedHandle.contains(handle):
            raise HandleTaken(field=field)


class AccountManager(BaseUserManager["Account"]):
    def create_person(
        self, *, handle: str, name: str, password: str | None, is_staff: bool = False, is_superuser: bool = False
    ) -> Account:
        """Create a person, who cannot sign in if `password` is None. Raises InvalidInput (400), HandleTaken (409)."""
        account = self.model(handle=handle, name=name, is_staff=is_staff, is_superuser=is_superuser)
        account.validate_fields()
        # Before the claim: a hash takes long, and others who want the handle wait for the transaction that claims it.
        account.password = make_password(password)
        with transaction.atomic():
            HandleClaim.claim(handle)
            account.save(force_insert=True)
        return account

    def create_superuser(self, handle: str, password: str | None = None, **fields: Any) -> Account:
        """Called by Django's `createsuperuser` command. Raises ImproperlyConfigured for other secrets (see `claim`)."""
        fingerprints.require_known_secrets()
        return self.create_person(
            handle=handle, name=fields.get("name") or handle, password=password, is_staff=True, is_superuser=True
        )


class Account(Named, AbstractBaseUser, PermissionsMixin):
    """A person or an agent. An agent has no password; its tokens act for it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=5, choices=AccountKind, default=AccountKind.HUMAN)
    handle = models.CharField(max_length=HANDLE_MAX, unique=True, validators=[RegexValidator(rf"\A{HANDLE.pattern}")])
    name = models.CharField(max_length=NAME_MAX)
    # The language of pages and mails, one of settings.LANGUAGES; empty: what the browser asks for.
    language = models.CharField(max_length=10, blank=True, default="", db_default="")
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField("may open the admin", default=False)
    # A token or admin session that was issued under another value is invalid.
    sessions_valid_from = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # The same as of the `PersonErasure`: the person can only cancel it. Null: none is waiting.
    erasure_due_at = models.DateTimeField(null=True, editable=False)
    # The only community in which it writes: that of the site which signs it in. Null: of a person who signs in here.
    site_community = models.ForeignKey(
        "messaging.Community", on_delete=models.PROTECT, null=True, editable=False, db_index=False, related_name="+"
    )

    # A new password that is not saved yet, set by Django; missing from the type stubs.
    _password: str | None

    objects = AccountManager()

    USERNAME_FIELD = "handle"
    REQUIRED_FIELDS = ["name"]

    class Meta:
        indexes = [
            models.Index("site_community", condition=Q(site_community__isnull=False), name="accounts_of_sites"),
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=AccountKind.values), name="account_kind_known"),
            # An agent's rights are those of its tokens, which can be narrowed and revoked.
            models.CheckConstraint(
                condition=models.Q(kind=AccountKind.HUMAN) | models.Q(is_staff=False, is_superuser=False),
                name="agent_is_no_admin",
            ),
        ]

    @property
    def can_act(self) -> bool:
        """As CAN_ACT: a person who waits for an erasure can only cancel it."""
        return self.is_active and self.erasure_due_at is None

    @property
    def is_of_service(self) -> bool:
        """As OF_SERVICE: no person and no agent, so nothing is decided on it."""
        return "-" in self.handle

    def check_password(self, raw_password: str | None) -> bool:
        """As Django's, but a stronger hash of this password replaces no new password of a concurrent change."""
        verified = self.password

        def strengthen(raw_password: str | None) -> None:
            self.password = make_password(raw_password)
            type(self)._default_manager.filter(pk=self.pk, password=verified).update(password=self.password)

        return check_password(raw_password, verified, strengthen)

    def __str__(self) -> str:
        return f"@{self.handle}"

    def validate_fields(self, *, but: Collection[str] = ()) -> None:
        """Raises InvalidInput (400)."""
        try:
            self.clean_fields(exclude={"password", *but})
        except ValidationError as failure:
            raise invalid_input(failure.message_dict) from None

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Saving a new password ends all sessions. Saving a stronger hash of the same password does not."""
        saved = kwargs.get("update_fields")
        if self._password is not None and (saved is None or "password" in saved):
            self.end_sessions()
            kwargs["update_fields"] = saved and {*saved, "sessions_valid_from"}
        super().save(*args, **kwargs)

    def end_sessions(self) -> None:
        """After a save, every token and admin session issued so far is invalid. The time is PostgreSQL's."""
        self.sessions_valid_from = database_now()

    def get_session_auth_hash(self) -> str:
        """The hash that an admin session must match; it changes when sessions end."""
        return f"{super().get_session_auth_hash()}:{self.sessions_valid_from}"


DIGEST_BYTES = 32
# Unused for so long, a session is ended.
LIFETIME = timedelta(days=30)
# Of one account: one for each site in each browser. The least recently used ones give way.
SESSIONS_MAX = 50


class PanelSessionQuerySet(models.QuerySet["PanelSession"]):
    def in_use(self) -> PanelSessionQuerySet:
        return self.filter(last_used_at__gt=Now() - LIFETIME)


class PanelSession(models.Model):
    """A sign-in of a person to the panel of one site in one browser. Only a keyed digest of the cookie is stored."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    digest = models.BinaryField(unique=True, max_length=DIGEST_BYTES)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="panel_sessions")
    # The account's value at the sign-in: another one now means that its sessions were ended.
    sessions_valid_from = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    # Written at most once a day.
    last_used_at = models.DateTimeField(db_default=Now(), db_index=True)

    objects = PanelSessionQuerySet.as_manager()


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
