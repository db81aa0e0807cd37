"""Looks up the TXT records of a name: it asks another machine, so no transaction is open meanwhile."""

from __future__ import annotations

import re

from django.conf import settings
from dns.exception import DNSException
from dns.resolver import NXDOMAIN, NoAnswer, Resolver

CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class NoAnswerInTime(Exception):
    """The name servers did not answer, or refused to."""


def values_of(name: str) -> list[str]:
    """Return the values of the TXT records of a name, none if it has no such record; raises NoAnswerInTime."""
    try:
        answer = _resolver().resolve(f"{name}.", "TXT", search=False, lifetime=settings.DOMAIN_TIMEOUT)
    except (NXDOMAIN, NoAnswer):
        return []
    except (DNSException, OSError) as failure:
        raise NoAnswerInTime(str(failure)) from failure
    # Records have no order, and a value of more than 255 bytes has several parts. PostgreSQL stores no null character.
    values = (b"".join(record.strings).decode("ascii", "backslashreplace") for record in answer)
    return sorted(CONTROL.sub("?", value) for value in values)


def _resolver() -> Resolver:
    """A new one each time: it reads the configuration of the system, and has no cache."""
    if settings.DOMAIN_RESOLVER is None:
        return Resolver()
    resolver = Resolver(configure=False)
    address, port = settings.DOMAIN_RESOLVER
    resolver.nameservers, resolver.port = [address], port
    return resolver
