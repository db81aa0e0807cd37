"""The settings of django-allauth and of the sessions: sign-up, sign-in, second factors, OpenID Connect.

Its forms and pages are in `account_area.sign_in`; handles, passwords and codes are checked by services of `messaging`.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config import env

DAY = 24 * 3600

# Whether super admins need a second factor.
ADMIN_MFA = env.flag("ADMIN_MFA", default=False)

SESSION_ENGINE = "kernel.pages.sessions"
# The row of a session ends, at the latest, so long after its last use (see account_area.sign_in.sessions).
SESSION_COOKIE_AGE = 14 * DAY
# A link to a new password, in seconds.
PASSWORD_RESET_TIMEOUT = 3600

LOGIN_REDIRECT_URL = "/account/"
LOGOUT_REDIRECT_URL = "/"

ACCOUNT_ADAPTER = "account_area.sign_in.adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = "handle"
ACCOUNT_USER_MODEL_EMAIL_FIELD = None
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
# A new address replaces the verified one when it is verified.
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_SESSION_REMEMBER = True
# How old the password or code may be that changes of address and second factors need (account_area.sign_in.recent).
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
# The soft throttles of `kernel.api.throttling` count instead, for all workers together.
ACCOUNT_RATE_LIMITS = False
MFA_RATE_LIMITS = False

MFA_ADAPTER = "account_area.sign_in.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Community Messaging"
# One step of 30 seconds before and after.
MFA_TOTP_TOLERANCE = 1
MFA_RECOVERY_CODE_COUNT = 10
# The address of a person is optional.
MFA_ALLOW_UNVERIFIED_EMAIL = True

SOCIALACCOUNT_ADAPTER = "account_area.sign_in.adapters.ProviderAdapter"
# A person of a provider chooses a handle. Nobody is found by an address: the provider may not have verified it.
SOCIALACCOUNT_AUTO_SIGNUP = False
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_EMAIL_REQUIRED = False
SOCIALACCOUNT_QUERY_EMAIL = False
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10

PROVIDER_ID = "oidc"


def openid_connect(*, issuer: str, client_id: str, secret: str, name: str) -> dict[str, Any]:
    """SOCIALACCOUNT_PROVIDERS: one provider, or none without an issuer. Raises ImproperlyConfigured."""
    if not issuer:
        return {}
    if urlsplit(issuer).scheme not in ("http", "https") or not client_id or not secret:
        raise ImproperlyConfigured("OIDC_ISSUER needs an http or https address, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET.")
    app = {
        "provider_id": PROVIDER_ID,
        "name": name,
        "client_id": client_id,
        "secret": secret,
        "settings": {"server_url": issuer.rstrip("/"), "oauth_pkce_enabled": True},
    }
    return {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}


SOCIALACCOUNT_PROVIDERS = openid_connect(
    issuer=env.text("OIDC_ISSUER"),
    client_id=env.text("OIDC_CLIENT_ID"),
    secret=env.text("OIDC_CLIENT_SECRET"),
    name=env.text("OIDC_NAME", "OpenID Connect"),
)
