from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import PermissionsMixin
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import IntegrityError, models, transaction
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Replace
from django.utils import timezone

from kernel import fingerprints
from kernel.api.field_errors import invalid_input
from kernel.api.ids import new_id
from kernel.database.sql import database_now
from messaging.accounts.confusables import DROPPED, PAIRS, READ, SEEN
from messaging.accounts.deleted import DELETED_HANDLE
from messaging.accounts.exceptions import HandleTaken
from messaging.accounts.names import Named
from messaging.models.erased_handle import ErasedHandle

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

    # A new password that is not saved yet, set by Django; missing from the type stubs.
    _password: str | None

    objects = AccountManager()

    USERNAME_FIELD = "handle"
    REQUIRED_FIELDS = ["name"]

    class Meta:
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
