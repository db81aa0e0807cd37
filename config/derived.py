"""Settings that are worked out of other values: those of mail, of a provider of sign-ins, and of access tokens."""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environ import Env

# For JSON, scripts and images: a browser must not render them as a page. The process that starts the others sends it
# too, so it is in no module that makes metrics.
NO_PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
MAIL_PRINTED, MAIL_DROPPED = "consolemail://", "dummymail://"
# The library reads smtps as STARTTLS; in mail clients it is TLS from the first byte, on port 465.
IMPLICIT_TLS = {"smtps": "smtp+ssl"}
PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}
INVALID = "EMAIL_URL is invalid: write an address such as smtp+tls://user:password@mail.example.com:587."


def mail_settings(url: str) -> dict[str, Any]:
    """Django's settings for an address such as `smtp+tls://user:password@host:587`. Raises ImproperlyConfigured."""
    scheme, separator, rest = url.partition("://")
    scheme = IMPLICIT_TLS.get(scheme, scheme)
    try:
        read: dict[str, Any] = Env.email_url_config(f"{scheme}{separator}{rest}")
        is_complete = scheme not in PORTS or bool(urlsplit(url).hostname)
    except (ImproperlyConfigured, ValueError):
        is_complete = False
    # The message does not repeat the value, which has a password.
    if not is_complete:
        raise ImproperlyConfigured(INVALID) from None
    # The library takes the first slash from the path of a file.
    return read | {"EMAIL_PORT": read["EMAIL_PORT"] or PORTS.get(scheme, 25), "EMAIL_FILE_PATH": urlsplit(url).path}


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


def jwt_settings(secret_key: str) -> dict[str, Any]:
    """The signing key is derived from SECRET_KEY."""
    return {
        "ALGORITHM": "HS256",
        "SIGNING_KEY": hmac.digest(secret_key.encode(), b"json web tokens", hashlib.sha256).hex(),
        "ISSUER": "community-messaging",
        "AUDIENCE": "community-messaging",
        "ACCESS_TOKEN_LIFETIME": timedelta(minutes=15),
        "REFRESH_TOKEN_LIFETIME": timedelta(days=14),
        "ROTATE_REFRESH_TOKENS": False,
        "BLACKLIST_AFTER_ROTATION": False,
        # The clocks of several hosts differ.
        "LEEWAY": timedelta(seconds=10),
        "USER_ID_FIELD": "id",
        "USER_ID_CLAIM": "sub",
    }
