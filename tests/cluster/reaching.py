"""Connections to parts of a cluster from their own network."""

from __future__ import annotations

import subprocess
import sys

from tests.cluster.postgres import Place

EXCHANGE = """
import socket, sys
address, port, text = sys.argv[1:]
with socket.create_connection((address, int(port)), timeout=10) as connection:
    if text:
        connection.sendall(text.encode())
        sys.stdout.buffer.write(connection.recv(65536))
"""


def accepts(place: Place, port: int) -> bool:
    return exchange(place, port, "") is not None


def exchange(place: Place, port: int, text: str) -> bytes | None:
    """Connect, send a text and return the response; None if nothing listens.

    By a program in that network: tests may only connect to this machine.
    """
    command = [*place.enter, sys.executable, "-I", "-S", "-c", EXCHANGE, place.address, str(port), text]
    ended = subprocess.run(command, capture_output=True, check=False)
    return None if ended.returncode else ended.stdout
