"""Second factors of people in tests, the codes of their apps, and the age of sign-ins."""

from __future__ import annotations

import time

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.test import Client

from messaging.models import Account

STEP_SECONDS = 30


def add_app(account: Account) -> str:
    """Give the person an app and recovery codes; returns the secret of the app."""
    secret: str = generate_totp_secret()
    TOTP.activate(account, secret)
    RecoveryCodes.activate(account)
    return secret


def code_of(secret: str, *, steps_later: int = 0) -> str:
    """The code of now. The steps before and after are accepted too."""
    code: str = format_hotp_value(hotp_value(secret, int(time.time()) // STEP_SECONDS + steps_later))
    return code


def recovery_codes_of(account: Account) -> list[str]:
    codes: list[str] = Authenticator.objects.get(user=account, type="recovery_codes").wrap().get_unused_codes()
    return codes


def age(client: Client) -> None:
    """Let the last sign-in of the client be an hour ago."""
    session = client.session
    for record in session["account_authentication_methods"]:
        record["at"] -= 3600
    session.save()
