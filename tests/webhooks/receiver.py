"""A real receiver of webhooks on 127.0.0.1, over http, or https with the certificate of a test authority."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.waiting import PATIENCE_SECONDS

HOST_NAME = "receiver.example"
A_DAY = timedelta(days=1)


@dataclass(slots=True)
class Received:
    """A request. `status` is that of the response; None: no response, or bytes that are none."""

    path: str
    headers: dict[str, str]
    body: bytes
    status: int | None = None

    @property
    def is_acknowledged(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


Respond = Callable[[BaseHTTPRequestHandler], None]


def status(code: int, **headers: str) -> Respond:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in {"Content-Length": "0", **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()

    return respond


def raw(data: bytes, *, each: float = 0.0) -> Respond:
    """Send bytes as they are; `each` is a pause in seconds after every byte."""

    def respond(handler: BaseHTTPRequestHandler) -> None:
        if not each:
            handler.wfile.write(data)
            return
        for number in range(len(data)):
            handler.wfile.write(data[number : number + 1])
            handler.wfile.flush()
            time.sleep(each)

    return respond


def silence(seconds: float) -> Respond:
    return lambda _handler: time.sleep(seconds)


@dataclass(slots=True)
class Receiver:
    """`respond` may be exchanged at any time; `received` are the requests in their order, without challenges.

    `answer`: what is responded to a challenge; None: as to an event, with which it is stored.
    """

    port: int = 0
    scheme: str = "http"
    respond: Respond = field(default_factory=lambda: status(204))
    answer: Callable[[str], bytes] | None = str.encode
    received: list[Received] = field(default_factory=list)

    @property
    def url(self) -> str:
        host = HOST_NAME if self.scheme == "https" else "127.0.0.1"
        return f"{self.scheme}://{host}:{self.port}/hook?from=test"

    def wait_for(self, count: int, *, seconds: float = PATIENCE_SECONDS) -> list[Received]:
        deadline = time.monotonic() + seconds
        while len(self.received) < count:
            assert time.monotonic() < deadline, f"{len(self.received)} of {count} requests"
            time.sleep(0.01)
        return list(self.received)

    def acknowledged(self) -> list[Received]:
        """The requests that were answered with 2xx."""
        return [request for request in self.received if request.is_acknowledged]

    def first_ids(self) -> list[str]:
        """The ids of the events in the order of their first arrival."""
        return list(dict.fromkeys(request.id for request in self.received))


def challenge_in(body: bytes) -> str:
    """The challenge of a request; empty: it is none."""
    item = orjson.loads(body) if body.startswith(b"{") else {}
    return str(item["challenge"]) if item.get("type") == "webhook.challenge" else ""


@contextmanager
def running_receiver(*, certificate: Path | None = None) -> Iterator[Receiver]:
    receiver = Receiver(scheme="http" if certificate is None else "https")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.request_received = Received(self.path, headers, body)
            challenge = challenge_in(body)
            if challenge and receiver.answer:
                answer = receiver.answer(challenge)
                status(200, **{"Content-Length": str(len(answer))})(self)
                self.wfile.write(answer)
            else:
                receiver.received.append(self.request_received)
                receiver.respond(self)
            self.close_connection = True

        do_GET = do_POST

        def send_response(self, code: int, message: str | None = None) -> None:
            self.request_received.status = code
            super().send_response(code, message)

        def log_message(self, *_arguments: Any) -> None:
            """Print nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_arguments: Any) -> None:
            """The client closes connections early."""

    server = Server(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


def make_authority(folder: Path, *, host: str = HOST_NAME, left: timedelta = A_DAY) -> tuple[Path, Path]:
    """(authority, certificate and key of `host`) as PEM files. They are valid since yesterday, and for `left`."""
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _certificate("Test authority", authority_key.public_key(), "Test authority", authority_key, None, A_DAY)
    certificate = _certificate(host, key.public_key(), "Test authority", authority_key, host, left)
    files = folder / f"authority-of-{host}.pem", folder / f"{host}.pem"
    files[0].write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    files[1].write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return files


def _certificate(
    subject: str, public_key: Any, issuer: str, issuer_key: Any, host: str | None, left: timedelta
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - A_DAY)
        .not_valid_after(now + left)
        .add_extension(x509.BasicConstraints(ca=host is None, path_length=None), critical=True)
    )
    if host is not None:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())
