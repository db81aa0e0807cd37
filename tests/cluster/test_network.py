"""Cuts between two parts of a cluster."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.network import Network, can_cut
from tests.cluster.postgres import Place

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.skipif(not can_cut(), reason="needs root")]
PORT = 8000
# Datagrams, because a connection ends if packets of one direction are lost.
SEND = """
import socket, sys
address, port, text = sys.argv[1:]
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.sendto(text.encode(), (address, int(port)))
"""
RECEIVE = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
    receiver.bind(("0.0.0.0", int(sys.argv[1])))
    print("ready", flush=True)
    while True:
        print(receiver.recv(100).decode(), flush=True)
"""


@pytest.fixture
def network() -> Iterator[Network]:
    network = Network()
    yield network
    network.close()


def test_a_cut_ends_the_way_to_all_addresses_of_a_part_and_no_other_way(network: Network) -> None:
    """An address that moves belongs to the part that has it."""
    server, client, other = (network.place() for _ in range(3))
    shared = f"{network.subnet}.200"
    network.move(shared, other)
    network.move(shared, server)
    with received(server) as lines:
        assert next(lines) == "ready"
        for address in (server.address, shared):
            with network.cut(server, client):
                send(client, address, "cut")
                send(other, address, "of another part")
            send(client, address, "not cut")
        assert [next(lines) for _ in range(4)] == ["of another part", "not cut"] * 2


def test_this_machine_gets_no_address(network: Network) -> None:
    """Otherwise the browsers of other tests would end their requests with ERR_NETWORK_CHANGED."""
    place = network.place()
    listed = subprocess.run(["ip", "-oneline", "address"], capture_output=True, text=True, check=True).stdout
    addresses = [line for line in listed.splitlines() if network.name in line or network.subnet in line]
    assert place.address.startswith(network.subnet)
    assert addresses == []


def send(place: Place, address: str, text: str) -> None:
    subprocess.run([*place.enter, sys.executable, "-c", SEND, address, str(PORT), text], check=True)


@contextmanager
def received(place: Place) -> Iterator[Iterator[str]]:
    """The lines of a program that prints what arrives in this place."""
    command = [*place.enter, sys.executable, "-c", RECEIVE, str(PORT)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        yield (line.strip() for line in process.stdout)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
