"""Fails a test that calls another machine: the service never uses the network."""

from __future__ import annotations

import socket
from typing import Any

import pytest

LOCAL = ("127.", "::1", "localhost", "0.0.0.0")
# Methods of a socket that take an address, and the index of that argument.
ADDRESS_OF = {"connect": 0, "connect_ex": 0, "sendto": -1}
RESOLVERS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")


def install(patch: pytest.MonkeyPatch) -> None:
    for name, position in ADDRESS_OF.items():
        patch.setattr(socket.socket, name, _guarded_method(getattr(socket.socket, name), position))
    for name in RESOLVERS:
        patch.setattr(socket, name, _guarded_resolver(getattr(socket, name)))


def _guarded_method(method: Any, position: int) -> Any:
    def guarded(self: socket.socket, *arguments: Any) -> Any:
        if self.family != socket.AF_UNIX:
            _refuse_elsewhere(arguments[position][0])
        return method(self, *arguments)

    return guarded


def _guarded_resolver(resolve: Any) -> Any:
    def guarded(host: Any, *arguments: Any, **options: Any) -> Any:
        # Resolving a name uses the network too.
        if host is not None and host != socket.gethostname():
            _refuse_elsewhere(host)
        return resolve(host, *arguments, **options)

    return guarded


def _refuse_elsewhere(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host)
    if not name.startswith(LOCAL):
        pytest.fail(f"Call to {name}: the service never uses the network.")
