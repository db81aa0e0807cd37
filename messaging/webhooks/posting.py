"""Sends one request over a connection of its own: to an address that was checked, without redirects and proxies.

The standard library's and other HTTP clients resolve a name when they connect, after any check, and limit the time of
each read and not of the request. So the connection is made here, and h11 writes and parses HTTP.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import h11

from messaging.models import DeliveryError
from messaging.webhooks.addresses import resolve
from messaging.webhooks.exceptions import NotSent
from messaging.webhooks.receivers import Receiver

# For the name server, the connection, TLS, the request and the headers of the response together.
SECONDS = 5.0
# Of the response; its body is not read.
HEADERS_MAX = 16 * 1024
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


async def post(url: str, body: bytes, headers: Mapping[str, str]) -> Outcome:
    """Send a request, and return the outcome within SECONDS."""
    began, status, error = time.monotonic(), None, None
    try:
        ends = asyncio.get_running_loop().time() + SECONDS
        async with asyncio.timeout_at(ends):
            status = await _post(Receiver.of(url), body, headers, ends=ends)
        error = _error_of(status)
    except TimeoutError:
        error = DeliveryError.TIMEOUT
    except NotSent as failure:
        error = failure.error
    except ValueError:
        # The settings allow this URL no more.
        error = DeliveryError.ADDRESS_NOT_ALLOWED
    return Outcome(status, error, int((time.monotonic() - began) * 1000))


def _error_of(status: int) -> DeliveryError | None:
    if 200 <= status < 300:
        return None
    return DeliveryError.REDIRECTED if 300 <= status < 400 else DeliveryError.REFUSED


async def _post(receiver: Receiver, body: bytes, headers: Mapping[str, str], *, ends: float) -> int:
    addresses = await asyncio.get_running_loop().run_in_executor(LOOKUPS, resolve, receiver.host, receiver.port)
    reader, writer = await _connect(receiver, addresses, ends=ends)
    try:
        return await _exchange(reader, writer, _request(receiver, body, headers), body)
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


def _request(receiver: Receiver, body: bytes, headers: Mapping[str, str]) -> h11.Request:
    sent = {"Host": receiver.authority, "Content-Length": str(len(body)), "Connection": "close", **headers}
    return h11.Request(method="POST", target=receiver.target, headers=list(sent.items()))


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: h11.Request, body: bytes
) -> int:
    """Send the request and return the status of the response."""
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADERS_MAX)
    for event in (request, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(http.send(event) or b"")
    await writer.drain()
    received = 0
    while True:
        answer = http.next_event()
        if isinstance(answer, h11.Response):
            return answer.status_code
        if answer is h11.NEED_DATA:
            data = await reader.read(READ_BYTES)
            received += len(data)
            http.receive_data(data)
        # Responses of 1xx precede the final one, in any number.
        if received > HEADERS_MAX or isinstance(answer, h11.ConnectionClosed):
            raise NotSent(DeliveryError.INVALID_RESPONSE)


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Trusts the certificates of the operating system, or those of SSL_CERT_FILE."""
    return ssl.create_default_context()
