"""The settings of mail, from EMAIL_URL.

Without it, a service over http prints mails. One over https sends none: its output is stored in logs, and a
mail may have a link that sets a new password.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environ import Env

from config import env

PRINTED, DROPPED = "consolemail://", "dummymail://"
# The library reads smtps as STARTTLS; in mail clients it is TLS from the first byte, on port 465.
IMPLICIT_TLS = {"smtps": "smtp+ssl"}
PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}
INVALID = "EMAIL_URL is invalid: write an address such as smtp+tls://user:password@mail.example.com:587."


def is_printed(url: str, *, base_url: str) -> bool:
    return not url and not base_url.startswith("https://")


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


_url = env.text("EMAIL_URL")
# Whether mails reach people, and whether they are printed. Pages say so if they do not.
MAIL_IS_SENT = bool(_url)
MAIL_IS_PRINTED = is_printed(_url, base_url=env.text("BASE_URL"))
_read = mail_settings(_url or (PRINTED if MAIL_IS_PRINTED else DROPPED))

EMAIL_BACKEND = _read["EMAIL_BACKEND"]
EMAIL_HOST = _read["EMAIL_HOST"] or "localhost"
EMAIL_PORT = _read["EMAIL_PORT"]
EMAIL_HOST_USER = _read["EMAIL_HOST_USER"] or ""
EMAIL_HOST_PASSWORD = _read["EMAIL_HOST_PASSWORD"] or ""
EMAIL_USE_TLS = _read.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = _read.get("EMAIL_USE_SSL", False)
EMAIL_FILE_PATH = _read["EMAIL_FILE_PATH"]
# Seconds that each step to a connection to the mail server may take.
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "Community Messaging <no-reply@localhost>")
