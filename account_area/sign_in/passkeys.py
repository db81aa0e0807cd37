"""What the script of the pages asks a passkey, and its answer."""

from __future__ import annotations

import json
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm
from allauth.mfa.webauthn.internal import auth as webauthn

from kernel.api.exceptions import ApiError
from messaging.models import Account


def challenge(person: Account | None) -> dict[str, Any]:
    """The options for the browser, as JSON has them; its challenge is stored in the session. None: of any person."""
    plain: dict[str, Any] = json.loads(json.dumps(webauthn.begin_authentication(person), default=dict))
    return plain


def own_challenge(person: Account) -> dict[str, Any] | None:
    """None: the person has no passkey."""
    return challenge(person) if webauthn.get_credentials(person) else None


def answered(form: AuthenticateWebAuthnForm) -> Authenticator | None:
    """The passkey that has answered the challenge; None: no valid one."""
    try:
        if form.is_valid():
            used: Authenticator = form.cleaned_data["credential"]
            return used
    except (ApiError, ArithmeticError, AttributeError, KeyError, LookupError, TypeError, ValueError):
        # The library checks few types of what the browser sends.
        pass
    return None
