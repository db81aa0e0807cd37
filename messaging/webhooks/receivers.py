"""The URL of a receiver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ada_url import URL
from django.conf import settings

PORTS = {"https": 443, "http": 80}
UNPRIVILEGED_PORTS = range(1024, 65536)


@dataclass(frozen=True, slots=True)
class Receiver:
    """A URL in parts: `host` without brackets, `authority` as in the Host header, `target` as in the request line."""

    scheme: str
    host: str
    port: int
    authority: str
    target: str

    @classmethod
    def of(cls, url: str) -> Self:
        """Raises ValueError with the reason for a URL that webhooks are not sent to."""
        parsed = URL(url)
        scheme = parsed.protocol.removesuffix(":")
        if scheme not in (PORTS if settings.WEBHOOKS_ALLOW_LOCAL else {"https"}):
            raise ValueError("Must be an https URL.")
        if parsed.username or parsed.password:
            raise ValueError("Must not contain a user name or a password.")
        port = int(parsed.port or PORTS[scheme])
        if port != PORTS[scheme] and port not in UNPRIVILEGED_PORTS:
            raise ValueError("The port must be 443 or from 1024 to 65535.")
        host = parsed.hostname.removeprefix("[").removesuffix("]")
        return cls(scheme, host, port, parsed.host, parsed.pathname + parsed.search)


def normalized_url(url: str) -> str:
    """The URL as browsers read it, without a fragment."""
    parsed = URL(url)
    parsed.hash = ""
    return str(parsed.href)
