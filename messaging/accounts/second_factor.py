"""Second factors of people: codes of an authenticator app, recovery codes and passkeys.

They are rows of allauth's `Authenticator`. Their secrets are encrypted under the root key, so they outlive a rotation
of SECRET_KEY.
"""

from __future__ import annotations

import base64
from datetime import datetime

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import constant_time_compare

from kernel.api import stored_secrets
from kernel.api.stored_secrets import SecretLost, encrypted_again, is_rotating
from kernel.writes.transaction import retried
from messaging.accounts.exceptions import InvalidSecondFactor, SecondFactorRequired
from messaging.accounts.sign_in_limits import count_code
from messaging.accounts.visitors import Visitor
from messaging.models import Account

PURPOSE = "second-factor"
TOTP, RECOVERY_CODES = Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES
# The secrets in the data of a row, by its type.
SECRETS = {TOTP: "secret", RECOVERY_CODES: "seed"}
LAST_STEP = "last_step"


def has_second_factor(*, account: Account) -> bool:
    return bool(Authenticator.objects.filter(user=account).exclude(type=RECOVERY_CODES).exists())


def require_code(*, account: Account, code: str | None, visitor: Visitor) -> None:
    """Check the code of a sign-in that has no other way to prove a second factor. Raises a 401."""
    if not has_second_factor(account=account):
        return
    if not code:
        raise SecondFactorRequired
    if verify_code(account=account, code=code, visitor=visitor) is None:
        raise InvalidSecondFactor


@retried
@transaction.atomic
def verify_code(*, account: Account, code: str, visitor: Visitor) -> Authenticator | None:
    """The factor that this code belongs to. A code is accepted once. Raises RateLimited (429)."""
    count_code(account=account, visitor=visitor)
    digits = _digits_of(code)
    rows = Authenticator.objects.select_for_update().filter(user=account, type__in=SECRETS).order_by("type")
    return next((row for row in rows if _accepts(row, digits)), None)


def step_of(secret: str, code: str) -> int | None:
    """The step whose code an authenticator app with this secret shows; None: it is no code of now."""
    digits = _digits_of(code)
    steps = yield_hotp_counters_from_time()
    equal = [step for step in steps if constant_time_compare(format_hotp_value(hotp_value(secret, step)), digits)]
    return max(equal, default=None)


def mark_used(app: Authenticator, *, step: int) -> None:
    """Codes of this step and of earlier ones are not accepted any more."""
    app.data[LAST_STEP] = step
    app.save(update_fields=["data"])


def remove_all(*, account: Account) -> int:
    """Remove every second factor, for a person who has lost them; returns their number without recovery codes."""
    rows = Authenticator.objects.filter(user=account)
    number: int = rows.exclude(type=RECOVERY_CODES).count()
    rows.delete()
    return number


def encrypt(secret: str) -> str:
    return _as_text(stored_secrets.encrypt(PURPOSE, secret.encode()))


def decrypt(text: str) -> str:
    """Raises SecretLost."""
    return stored_secrets.decrypt(PURPOSE, base64.b64decode(text)).decode()


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Encrypt secrets under the previous root key again, so that its rotation can be finished (or count them)."""
    rows = _with_secrets().iterator() if is_rotating() else ()
    return {"second factors under the previous key": sum(_renew(row.pk, dry_run=dry_run) for row in rows)}


def _with_secrets() -> QuerySet[Authenticator]:
    rows: QuerySet[Authenticator] = Authenticator.objects.filter(type__in=SECRETS)
    return rows


@retried
@transaction.atomic
def _renew(pk: int, *, dry_run: bool) -> bool:
    row = _with_secrets().select_for_update().filter(pk=pk).first()
    if row is None:
        return False
    name = SECRETS[Authenticator.Type(row.type)]
    ciphertext = encrypted_again(PURPOSE, base64.b64decode(row.data[name]))
    if ciphertext is None:
        return False
    if not dry_run:
        row.data[name] = _as_text(ciphertext)
        row.save(update_fields=["data"])
    return True


def _as_text(ciphertext: bytes) -> str:
    return base64.b64encode(ciphertext).decode()


def _accepts(row: Authenticator, digits: str) -> bool:
    try:
        return _accepts_totp(row, digits) if row.type == TOTP else bool(row.wrap().validate_code(digits))
    except SecretLost:
        return False


def _accepts_totp(row: Authenticator, digits: str) -> bool:
    """A code of a step after the last accepted one. The row is locked: of two equal codes at once, one is accepted."""
    step = step_of(decrypt(row.data[SECRETS[TOTP]]), digits)
    if step is None or step <= row.data.get(LAST_STEP, -1):
        return False
    mark_used(row, step=step)
    return True


def _digits_of(code: str) -> str:
    return "".join(character for character in code if character.isascii() and character.isdigit())
