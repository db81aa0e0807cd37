"""What a value of EMAIL_URL, the address of the mail server, means for Django's settings of mail."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environ import Env

PRINTED, DROPPED = "consolemail://", "dummymail://"
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
