"""One request to a real receiver: pinned, bounded in time and size, without redirects, proxies and stored bodies."""

from __future__ import annotations

import asyncio
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from messaging.models import DeliveryError
from messaging.webhooks import posting
from messaging.webhooks.posting import Outcome, post
from tests.service import free_port
from tests.waiting import takes_less_than
from tests.webhooks.receiver import HOST_NAME, Receiver, make_authority, raw, running_receiver, silence, status

BODY = b'{"type": "message.created"}'
HEADERS = {"Content-Type": "application/json", "webhook-id": "evt_1"}


def send(url: str) -> Outcome:
    return asyncio.run(post(url, BODY, HEADERS))


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts end after a fifth of a second."""
    monkeypatch.setattr(posting, "SECONDS", 0.2)


class NameServer:
    """Names that resolve to one address after the other; the last one stays."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
        self.addresses = list(addresses)
        self.asked: list[str] = []
        monkeypatch.setattr(socket, "getaddrinfo", self.look_up)

    def look_up(self, host: str, port: int, *_arguments: Any, **_options: Any) -> list[Any]:
        self.asked.append(host)
        address = self.addresses.pop(0) if len(self.addresses) > 1 else self.addresses[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


@pytest.mark.parametrize("code", [200, 201, 202, 204, 299])
def test_every_2xx_acknowledges(receiver: Receiver, code: int) -> None:
    receiver.respond = status(code)
    outcome = send(receiver.url)
    assert (outcome.status_code, outcome.error, outcome.is_delivered) == (code, None, True)
    (request,) = receiver.received
    assert (request.path, request.body) == ("/hook?from=test", BODY)
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["webhook-id"] == "evt_1"
    assert "authorization" not in request.headers


def test_an_error_status_is_refused(receiver: Receiver) -> None:
    for code in [400, 401, 404, 410, 429, 500, 503]:
        receiver.respond = status(code)
        outcome = send(receiver.url)
        assert (outcome.status_code, outcome.error, outcome.is_gone) == (code, DeliveryError.REFUSED, code == 410), code


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    for code in [300, 301, 302, 303, 304, 307, 308]:
        with running_receiver() as other:
            receiver.respond = status(code, Location=other.url)
            outcome = send(receiver.url)
        assert (outcome.status_code, outcome.error) == (code, DeliveryError.REDIRECTED), code
        assert other.received == [], code


def test_proxies_of_the_environment_are_not_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_receiver() as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert send(receiver.url).is_delivered
    assert proxy.received == []


def test_the_body_of_the_response_is_not_read(receiver: Receiver, brief: None) -> None:
    receiver.respond = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 100)
    assert send(receiver.url).is_delivered


@pytest.mark.parametrize(
    ("answer", "code", "error"),
    [
        (b"sesame", 200, None),
        (b"  sesame\r\n", 299, None),
        (b'{"challenge": "sesame"}', 200, None),
        (b'"sesame"', 200, None),
        (b"", 204, "challenge_failed"),
        (b"Sesame", 200, "challenge_failed"),
        (b"sesame sesame", 200, "challenge_failed"),
        (b'["sesame"]', 200, "challenge_failed"),
        # What repeats each request has not agreed to anything.
        (b'{"type": "webhook.challenge", "challenge": "sesame"}', 200, "challenge_failed"),
        (b"sesame" + b"x" * 20_000, 200, "challenge_failed"),
        (b"sesame", 302, "redirected"),
        (b"sesame", 404, "refused"),
    ],
)
def test_a_challenge_is_acknowledged_by_its_text(receiver: Receiver, answer: bytes, code: int, error: Any) -> None:
    receiver.respond = raw(b"HTTP/1.1 %d -\r\nContent-Length: %d\r\n\r\n" % (code, len(answer)) + answer)
    outcome = asyncio.run(post(receiver.url, BODY, HEADERS, "sesame"))
    assert (outcome.status_code, outcome.error) == (code, error)


def test_an_answer_to_a_challenge_may_end_with_the_connection_and_has_to_end(receiver: Receiver, brief: None) -> None:
    for data, error in [
        (b"HTTP/1.1 200 OK\r\n\r\nsesame", None),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nses\r\n3\r\name\r\n0\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nsesame", "invalid_response"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 10_000_000, "challenge_failed"),
    ]:
        receiver.respond = raw(data)
        assert asyncio.run(post(receiver.url, BODY, HEADERS, "sesame")).error == error, data[:60]
    receiver.respond = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + b"x" * 90, each=0.05)
    assert asyncio.run(post(receiver.url, BODY, HEADERS, "sesame")).error is DeliveryError.TIMEOUT


def test_an_invalid_or_endless_response_is_an_error(receiver: Receiver) -> None:
    for data in [
        b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 100_000,
        b"HTTP/1.1 200 OK\r\n" + b"X-Many: 1\r\n" * 10_000,
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * 10_000,
        b"220 mail.example ESMTP\r\n",
        b"\x00\xff" * 100,
        b"",
        b"HTTP/1.1 2",
        b"HTTP/1.1 9999 Nonsense\r\n\r\n",
    ]:
        receiver.respond = raw(data)
        outcome = send(receiver.url)
        assert outcome.status_code is None, data
        assert outcome.error in (DeliveryError.INVALID_RESPONSE, DeliveryError.CONNECTION_FAILED), data


def test_an_interim_response_precedes_the_final_one(receiver: Receiver) -> None:
    receiver.respond = raw(b"HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
    assert send(receiver.url).status_code == 200


@pytest.mark.parametrize(
    "respond", [silence(3), raw(b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 50, each=0.05)], ids=["silent", "dripping"]
)
def test_an_attempt_is_limited_in_total(receiver: Receiver, brief: None, respond: Any) -> None:
    receiver.respond = respond

    def attempt() -> None:
        outcome = send(receiver.url)
        assert (outcome.status_code, outcome.error) == (None, DeliveryError.TIMEOUT)
        assert outcome.duration_ms >= 200

    assert takes_less_than(2.5, attempt)


def test_a_receiver_that_never_accepts_tls_is_a_timeout(local: None, brief: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert send(f"https://127.0.0.1:{server.getsockname()[1]}/").error is DeliveryError.TIMEOUT


def answer_nothing(*_arguments: Any, **_options: Any) -> Any:
    time.sleep(1.5)


def answer_that_none_exists(*_arguments: Any, **_options: Any) -> Any:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def answer_an_address(address: str, *more: str) -> Any:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 8443)) for each in (address, *more)]
    return lambda *_arguments, **_options: found


@pytest.mark.parametrize(
    "look_up",
    [
        answer_nothing,
        answer_that_none_exists,
        answer_an_address("10.0.0.1"),
        answer_an_address("169.254.169.254", "8.8.8.8"),
        answer_an_address("fd12:3456::1"),
    ],
)
def test_neither_the_answer_nor_its_time_tells_which_names_exist(
    brief: None, monkeypatch: pytest.MonkeyPatch, look_up: Any
) -> None:
    """The time is that of a whole attempt, whenever the name server has answered."""
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    outcome = send("https://db.corp.example:8443/")
    assert (outcome.status_code, outcome.error) == (None, DeliveryError.ADDRESS_NOT_ALLOWED)
    assert outcome.duration_ms >= posting.SECONDS * 1000


def test_a_closed_port_is_an_error(local: None) -> None:
    assert send(f"http://127.0.0.1:{free_port()}/").error is DeliveryError.CONNECTION_FAILED


class Addresses:
    """A name with several addresses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
        self.addresses = addresses
        monkeypatch.setattr(socket, "getaddrinfo", self.look_up)

    def look_up(self, host: str, port: int, *_arguments: Any, **_options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in self.addresses]


def test_the_next_address_follows_one_that_refuses(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    Addresses(monkeypatch, "127.0.0.2", "127.0.0.3", "127.0.0.1")
    assert send(f"http://{HOST_NAME}:{receiver.port}/").is_delivered


def test_an_address_that_does_not_answer_leaves_time_for_the_others(
    local: None, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A share of the time for each of them.
    Addresses(monkeypatch, "127.0.0.2", *["127.0.0.1"] * 24)
    with running_receiver(certificate=authority) as receiver, socket.create_server(("127.0.0.2", receiver.port)):
        assert send(receiver.url).is_delivered


def test_https_verifies_the_name_and_connects_to_the_checked_address(
    local: None, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The network guard fails the test if the second address is used.
    names = NameServer(monkeypatch, "127.0.0.1", "192.0.2.1")
    with running_receiver(certificate=authority) as receiver:
        assert send(receiver.url).is_delivered
        assert receiver.received[0].headers["host"] == f"{HOST_NAME}:{receiver.port}"
    assert names.asked == [HOST_NAME]


def test_a_certificate_of_another_name_is_refused(
    local: None, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    NameServer(monkeypatch, "127.0.0.1")
    with running_receiver(certificate=authority) as receiver:
        outcome = send(receiver.url.replace(HOST_NAME, "other.example"))
        assert receiver.received == []
    assert outcome.error is DeliveryError.TLS_FAILED


def test_a_certificate_of_an_unknown_authority_is_refused(
    local: None, authority: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    _unknown, certificate = make_authority(tmp_path / "other")
    NameServer(monkeypatch, "127.0.0.1")
    with running_receiver(certificate=certificate) as receiver:
        assert send(receiver.url).error is DeliveryError.TLS_FAILED
        assert receiver.received == []


def require_no_connection(server: socket.socket) -> None:
    """The first connection that the server gets is one of this test."""
    with socket.socket() as own:
        own.connect(server.getsockname())
        with server.accept()[0] as accepted:
            assert accepted.getpeername() == own.getsockname()


def test_no_connection_to_a_local_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0x7f.1", "2130706433"]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            outcome = send(f"https://{host}:{server.getsockname()[1]}/")
            assert outcome.error is DeliveryError.ADDRESS_NOT_ALLOWED, host
            require_no_connection(server)


def test_a_name_that_moves_to_a_local_address_is_refused(brief: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebinding: the name had a global address when the webhook was created."""
    names = NameServer(monkeypatch, "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        outcome = send(f"https://{HOST_NAME}:{server.getsockname()[1]}/")
        assert outcome.error is DeliveryError.ADDRESS_NOT_ALLOWED
        require_no_connection(server)
    assert names.asked == [HOST_NAME]


def test_a_url_that_is_not_allowed_any_more_is_refused() -> None:
    for url in ["http://93.184.215.14/", "ftp://93.184.215.14/", "https://a:b@93.184.215.14/"]:
        assert send(url).error is DeliveryError.ADDRESS_NOT_ALLOWED, url
