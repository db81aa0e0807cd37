"""Sends one request over a connection of its own: to an address that was checked, without redirects and proxies.

The standard library's and other HTTP clients resolve a name when they connect, after any check, and limit the time of
each read and not of the request. So the connection is made here, and h11 writes and parses HTTP.

Which addresses webhooks may be sent to: global ones only, so that no request reaches the operator's network.

The URL of a receiver.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Self

import h11
import orjson
from ada_url import URL
from django.conf import settings

from messaging.models import DeliveryError
from messaging.models.webhook import URL_MAX
from messaging.webhooks.exceptions import NotSent

Address = IPv4Address | IPv6Address
GLOBAL_UNICAST = ip_network("2000::/3")
NAT64 = ip_network("64:ff9b::/96")
# Inside global networks: the tunnels Teredo and 6to4, whose addresses contain any IPv4 address, and 6to4's relays.
TUNNELS = tuple(map(ip_network, ("2001::/32", "2002::/16", "192.88.99.0/24")))
# Names under these domains belong to one machine or network.
LOCAL_DOMAINS = frozenset({"localhost", "local", "internal"})


def is_global(address: Address) -> bool:
    """Whether an address is another machine of the internet: unicast and routed, also as an IPv4 address in IPv6."""
    if isinstance(address, IPv6Address):
        embedded = _embedded(address)
        if embedded is not None:
            return is_global(embedded)
        if address not in GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast and not any(address in network for network in TUNNELS)


def may_be_global(host: str) -> bool:
    """Whether a host is a global address, or a name that may have one. No name is looked up."""
    if literal := _literal(host):
        return is_global(literal)
    *parents, domain = host.removesuffix(".").split(".")
    return bool(parents) and domain not in LOCAL_DOMAINS


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host name, which may all be used. Blocks; raises NotSent without telling why."""
    addresses = [literal] if (literal := _literal(host)) else _look_up(host, port)
    if not addresses or not (settings.WEBHOOKS_ALLOW_LOCAL or all(map(is_global, addresses))):
        raise NotSent(DeliveryError.ADDRESS_NOT_ALLOWED)
    return list(map(str, addresses))


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(address.packed[-4:]) if address in NAT64 else None


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def _look_up(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    # A link-local address has a zone: `fe80::1%eth0`.
    return [ip_address(str(entry[4][0])) for entry in found]


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


# For the name server, the connection, TLS, the request and the headers of the response together.
SECONDS = 5.0
# The body of a webhook's response is read only to compare it with a challenge, and not beyond this size.
HEADERS_MAX = 16 * 1024
ANSWER_MAX = 4 * 1024
READ_BYTES = 4 * 1024
GONE = 410
# A name server that does not answer occupies a thread for longer than an attempt takes.
LOOKUPS = ThreadPoolExecutor(64, thread_name_prefix="lookup")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an attempt: the status of the response, and an error unless it is 2xx."""

    status_code: int | None
    error: DeliveryError | None
    duration_ms: int

    @property
    def is_delivered(self) -> bool:
        return self.error is None

    @property
    def is_gone(self) -> bool:
        return self.status_code == GONE


async def fetch(url: str, *, limit: int) -> tuple[int, bytes]:
    """The status and body of a document, within SECONDS; raises NotSent, also if it has more than `limit` bytes."""
    ends = asyncio.get_running_loop().time() + SECONDS
    try:
        receiver = Receiver.of(url)
        addresses = await _resolve(receiver, ends=ends)
        async with asyncio.timeout_at(ends):
            request = _request(receiver, "GET", {"Accept": "application/json"})
            status, content = await _send(receiver, addresses, request, ends=ends, limit=limit)
    except TimeoutError:
        raise NotSent(DeliveryError.TIMEOUT) from None
    except ValueError:
        raise NotSent(DeliveryError.ADDRESS_NOT_ALLOWED) from None
    if len(content) > limit:
        raise NotSent(DeliveryError.INVALID_RESPONSE)
    return status, content


async def post(url: str, body: bytes, headers: Mapping[str, str], challenge: str = "") -> Outcome:
    """Send a request, and return the outcome within SECONDS. The response has to repeat a challenge."""
    began, status, error = time.monotonic(), None, None
    ends = asyncio.get_running_loop().time() + SECONDS
    try:
        receiver = Receiver.of(url)
        addresses = await _resolve(receiver, ends=ends)
        async with asyncio.timeout_at(ends):
            request = _request(receiver, "POST", {"Content-Length": str(len(body)), **headers})
            limit = ANSWER_MAX if challenge else 0
            status, answer = await _send(receiver, addresses, request, body, ends=ends, limit=limit)
        error = _error_of(status)
        if challenge and not error and not is_answered(answer, challenge):
            error = DeliveryError.CHALLENGE_FAILED
    except TimeoutError:
        error = DeliveryError.TIMEOUT
    except NotSent as failure:
        error = failure.error
    except ValueError:
        # The settings allow this URL no more.
        error = DeliveryError.ADDRESS_NOT_ALLOWED
    return Outcome(status, error, int((time.monotonic() - began) * 1000))


def is_answered(answer: bytes, challenge: str) -> bool:
    """Whether a body is the challenge: as text, or as JSON, `{"challenge": …}` too, since frameworks write JSON.

    An echo of the whole request is no answer.
    """
    text = answer.strip()
    if text == challenge.encode():
        return True
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(text) in (challenge, {"challenge": challenge})
    return False


def _error_of(status: int) -> DeliveryError | None:
    if 200 <= status < 300:
        return None
    return DeliveryError.REDIRECTED if 300 <= status < 400 else DeliveryError.REFUSED


async def _resolve(receiver: Receiver, *, ends: float) -> list[str]:
    """A host without an address that is allowed fails at `ends` in each case.

    The time of the name server's answer would tell the names of the operator's network from those that do not exist.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout_at(ends):
            return await loop.run_in_executor(LOOKUPS, resolve, receiver.host, receiver.port)
    except (NotSent, TimeoutError):
        await asyncio.sleep(ends - loop.time())
        raise NotSent(DeliveryError.ADDRESS_NOT_ALLOWED) from None


async def _send(
    receiver: Receiver, addresses: list[str], request: h11.Request, body: bytes = b"", *, ends: float, limit: int
) -> tuple[int, bytes]:
    reader, writer = await _connect(receiver, addresses, ends=ends)
    try:
        return await _exchange(reader, writer, request, body, limit=limit)
    except ssl.SSLError:
        raise NotSent(DeliveryError.TLS_FAILED) from None
    except OSError as failure:
        if isinstance(failure, TimeoutError):
            raise
        raise NotSent(DeliveryError.CONNECTION_FAILED) from None
    except h11.ProtocolError:
        raise NotSent(DeliveryError.INVALID_RESPONSE) from None
    finally:
        # Without waiting for the receiver.
        writer.transport.abort()


async def _connect(
    receiver: Receiver, addresses: list[str], *, ends: float
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first address that accepts; each has an equal share of the time that is left."""
    for number, address in enumerate(addresses):
        is_last = number == len(addresses) - 1
        share = None if is_last else (ends - asyncio.get_running_loop().time()) / (len(addresses) - number)
        try:
            async with asyncio.timeout(share):
                return await _connect_to(receiver, address)
        except ssl.SSLError:
            raise NotSent(DeliveryError.TLS_FAILED) from None
        except OSError:
            # Also the TimeoutError of the share.
            continue
    raise NotSent(DeliveryError.CONNECTION_FAILED)


async def _connect_to(receiver: Receiver, address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The name serves for the certificate only."""
    tls = receiver.scheme == "https"
    return await asyncio.open_connection(
        address, receiver.port, ssl=tls_context() if tls else None, server_hostname=receiver.host if tls else None
    )


def _request(receiver: Receiver, method: str, headers: Mapping[str, str]) -> h11.Request:
    sent = {"Host": receiver.authority, "Connection": "close", **headers}
    return h11.Request(method=method, target=receiver.target, headers=list(sent.items()))


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: h11.Request, body: bytes, *, limit: int
) -> tuple[int, bytes]:
    """Send the request and return the status of the response, and the first `limit` bytes of its body or a few more."""
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADERS_MAX)
    for event in (request, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(http.send(event) or b"")
    await writer.drain()
    received, status, content = 0, 0, b""
    while True:
        answer = http.next_event()
        if isinstance(answer, h11.Response):
            status = answer.status_code
        elif isinstance(answer, h11.Data):
            content += bytes(answer.data)
        if status and (not limit or isinstance(answer, h11.EndOfMessage) or len(content) > limit):
            return status, content
        if answer is h11.NEED_DATA:
            data = await reader.read(READ_BYTES)
            received += len(data)
            http.receive_data(data)
        # Responses of 1xx precede the final one, in any number.
        if received > HEADERS_MAX + ANSWER_MAX + limit * 2 or isinstance(answer, h11.ConnectionClosed):
            raise NotSent(DeliveryError.INVALID_RESPONSE)


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Trusts the certificates of the operating system, or those of SSL_CERT_FILE."""
    return ssl.create_default_context()
