"""The URL of a receiver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ada_url import URL
from django.conf import settings

from messaging.models.webhook import URL_MAX
from messaging.webhooks.addresses import may_be_global

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
        if not settings.WEBHOOKS_ALLOW_LOCAL and not may_be_global(host):
            raise ValueError("The host is local, or an address that is not global.")
        return cls(scheme, host, port, parsed.host, parsed.pathname + parsed.search)


def normalized_url(url: str) -> str:
    """The URL as browsers read it, without a fragment. Raises ValueError as `Receiver.of`, or if it gets too long."""
    parsed = URL(url)
    parsed.hash = ""
    normalized = str(parsed.href)
    if len(normalized) > URL_MAX:
        raise ValueError(f"Percent-encoded, longer than {URL_MAX} characters.")
    Receiver.of(normalized)
    return normalized
