"""Whoever leaves this machine fails: the service fetches nothing, ever."""

from __future__ import annotations

import socket
from typing import Any

import pytest

LOCAL = ("127.", "::1", "localhost", "0.0.0.0")
# Methods of a socket that take an address: as the first argument, or as the last one.
ADDRESS_OF = {"connect": 0, "connect_ex": 0, "sendto": -1}
LOOK_UPS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")


def put_up(patch: pytest.MonkeyPatch) -> None:
    for name, place in ADDRESS_OF.items():
        patch.setattr(socket.socket, name, _guarded_method(getattr(socket.socket, name), place))
    for name in LOOK_UPS:
        patch.setattr(socket, name, _guarded_look_up(getattr(socket, name)))


def _guarded_method(method: Any, place: int) -> Any:
    def guarded(self: socket.socket, *arguments: Any) -> Any:
        if self.family != socket.AF_UNIX:
            _refuse_elsewhere(arguments[place][0])
        return method(self, *arguments)

    return guarded


def _guarded_look_up(look_up: Any) -> Any:
    def guarded(host: Any, *arguments: Any, **options: Any) -> Any:
        # A name is looked up on the network too.
        if host is not None and host != socket.gethostname():
            _refuse_elsewhere(host)
        return look_up(host, *arguments, **options)

    return guarded


def _refuse_elsewhere(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host)
    if not name.startswith(LOCAL):
        pytest.fail(f"{name} was asked for: the service never uses the network.")
