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
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import h11
import orjson

from messaging.models import DeliveryError
from messaging.webhooks.addresses import resolve
from messaging.webhooks.exceptions import NotSent
from messaging.webhooks.receivers import Receiver

# For the name server, the connection, TLS, the request and the headers of the response together.
SECONDS = 5.0
# Of the response; its body is read only to compare it with a challenge, and not beyond this size.
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


async def post(url: str, body: bytes, headers: Mapping[str, str], challenge: str = "") -> Outcome:
    """Send a request, and return the outcome within SECONDS. The response has to repeat a challenge."""
    began, status, error = time.monotonic(), None, None
    ends = asyncio.get_running_loop().time() + SECONDS
    try:
        receiver = Receiver.of(url)
        addresses = await _resolve(receiver, ends=ends)
        async with asyncio.timeout_at(ends):
            status, answer = await _post(receiver, addresses, body, headers, ends=ends, reads=bool(challenge))
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


async def _post(
    receiver: Receiver, addresses: list[str], body: bytes, headers: Mapping[str, str], *, ends: float, reads: bool
) -> tuple[int, bytes]:
    reader, writer = await _connect(receiver, addresses, ends=ends)
    try:
        return await _exchange(reader, writer, _request(receiver, body, headers), body, reads=reads)
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
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: h11.Request, body: bytes, *, reads: bool
) -> tuple[int, bytes]:
    """Send the request and return the status of the response, and its body if it is read."""
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
        if status and (not reads or isinstance(answer, h11.EndOfMessage) or len(content) > ANSWER_MAX):
            return status, content
        if answer is h11.NEED_DATA:
            data = await reader.read(READ_BYTES)
            received += len(data)
            http.receive_data(data)
        # Responses of 1xx precede the final one, in any number.
        if received > HEADERS_MAX + ANSWER_MAX or isinstance(answer, h11.ConnectionClosed):
            raise NotSent(DeliveryError.INVALID_RESPONSE)


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Trusts the certificates of the operating system, or those of SSL_CERT_FILE."""
    return ssl.create_default_context()
