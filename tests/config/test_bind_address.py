"""HOST is an IPv4 or IPv6 address, and every origin that the service prints contains it correctly."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import RequestFactory

from config import env
from kernel.api.addresses import client_address
from runtime import bind_address
from runtime.data_folder import CannotRun
from runtime.run import check_port, check_ports
from tests.service import Service, a_service, free_port, running_service
from tests.waiting import PATIENCE_SECONDS


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


def test_the_origin_reaches_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for host, origin in (
        ("", "http://127.0.0.1:8000"),
        ("192.0.2.1", "http://192.0.2.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::1", "http://[::1]:8000"),
        ("[2001:db8::1]", "http://[2001:db8::1]:8000"),
        ("::", "http://[::1]:8000"),
    ):
        monkeypatch.setenv("HOST", host)
        assert bind_address.origin(8000) == origin
        assert env.origin("NOT_SET", bind_address.origin(8000)) == origin
    for host in ("localhost", "127.0.0.1:80", "[::1", "::1]", "1.2.3", "*"):
        monkeypatch.setenv("HOST", host)
        with pytest.raises(ImproperlyConfigured, match="HOST is "):
            env.address("HOST", "127.0.0.1")


def test_the_origin_of_the_default_port_has_no_port_and_streams_have_the_port_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOST", "")
    assert bind_address.origin(80) == env.origin("NOT_SET", bind_address.origin(80)) == "http://127.0.0.1"
    # The default of STREAM_URL is another port only for a BASE_URL that is the default one.
    assert bind_address.stream_origin(80, bind_address.origin(80)) == "http://127.0.0.1:81"
    assert [bind_address.stream_port(port) for port in (8000, 65535)] == [8001, 65534]


def test_one_port_for_both_is_refused_with_advice() -> None:
    port = free_port()
    check_ports(port, None)
    advice = rf"PORT and STREAM_PORT are both {port}; choose another: STREAM_PORT=\d+ make run"
    with pytest.raises(CannotRun, match=advice):
        check_ports(port, port)


def test_the_advised_port_is_free_and_so_is_that_of_its_streams() -> None:
    with ExitStack() as taken:
        first = free_port()
        for port in (first, first + 1, first + 3):
            # One that another program has is taken as well.
            with suppress(OSError):
                other = taken.enter_context(socket.socket())
                other.bind(("127.0.0.1", port))
                other.listen()
        for ports, variable in (((first, first + 1), "PORT"), ((free_port(), first), "STREAM_PORT")):
            with pytest.raises(CannotRun) as refused:
                check_ports(*ports)
            match = re.search(rf"choose another: {variable}=(\d+) make run", str(refused.value))
            assert match
            advised = int(match[1])
            check_ports(advised, advised + 1 if variable == "PORT" else None)


def test_the_port_of_metrics_is_tried_on_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_HOST", "127.0.0.2")
    with socket.socket() as other:
        other.bind(("127.0.0.2", 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(CannotRun, match=f"port {taken} cannot be used"):
            check_port(taken, "METRICS_PORT")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        check_port(other.getsockname()[1], "METRICS_PORT")


def test_a_trusted_ipv4_proxy_is_recognised_on_an_ipv6_socket(settings: Any) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    request = RequestFactory().get("/", REMOTE_ADDR="::ffff:10.0.0.1", HTTP_X_FORWARDED_FOR="192.0.2.7")
    assert client_address(request) == "192.0.2.7"
    request = RequestFactory().get("/", REMOTE_ADDR="::ffff:11.0.0.1", HTTP_X_FORWARDED_FOR="192.0.2.7")
    assert client_address(request) == "::ffff:11.0.0.1"


def answer(service: Service, address: str) -> bytes:
    """The status of the API for a client that sends the address as the host, as a browser does."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as client:
        client.settimeout(20)
        client.connect((address, service.port))
        host = f"{bind_address.in_url(address)}:{service.port}"
        client.sendall(f"GET /v1/smart-tags HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        return client.recv(15)


@pytest.mark.slow
@pytest.mark.processes
@needs_ipv6
def test_the_ipv6_loopback_is_served() -> None:
    with running_service(HOST="::1") as service:
        assert f"runs at http://[::1]:{service.port} " in service.said()
        assert answer(service, "::1").endswith(b"200 OK")
        with pytest.raises(ConnectionRefusedError):
            answer(service, "127.0.0.1")
        with a_service(HOST="::1", PORT=str(service.port)) as second:
            assert second.launch().wait(PATIENCE_SECONDS) == 1
            assert f"port {service.port} cannot be used" in second.said()


@pytest.mark.slow
@pytest.mark.processes
@needs_ipv6
def test_all_addresses_are_served() -> None:
    with running_service(HOST="::") as service:
        assert f"runs at http://[::1]:{service.port} " in service.said()
        assert answer(service, "::1").endswith(b"200 OK")
        with socket.socket(socket.AF_INET6) as plain:
            dual_stack = not plain.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
        if dual_stack:
            assert answer(service, "127.0.0.1").endswith(b"200 OK")
