"""Network namespaces joined by a bridge, and cuts between two of them. Needs root.

A cut sends the packets of a pair to a link address that nobody has: they vanish, as when a switch fails, and no
connection is refused. The machine gets no address for it, since browsers end their requests when one comes or goes.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.cluster.postgres import Place

# The first free one of these.
SUBNETS = [f"10.89.{number}" for number in range(20, 250)]
NOBODY = "02:00:00:00:00:fe"
PREFIX = "cmc"


class Network:
    """`close` deletes it. A run that was killed leaves its namespaces, which the next one deletes."""

    def __init__(self) -> None:
        _delete_those_of_dead_runs()
        self.name = f"{PREFIX}{os.getpid()}"
        self._numbers = itertools.count(1)
        self._places: dict[Place, str] = {}
        # Shared addresses, and the place that has each of them.
        self._shared: dict[str, Place] = {}
        # From which the load reaches the namespaces.
        self._outside = _addresses_of_this_machine()[0]
        _ip("link", "add", self.name, "type", "bridge")
        _start(self.name)
        self.subnet = self._claim_subnet()

    def place(self) -> Place:
        """A new namespace with an address."""
        number = next(self._numbers)
        space, outer, address = f"{self.name}-{number}", f"{self.name}v{number}", f"{self.subnet}.{number}"
        _ip("netns", "add", space)
        _ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("link", "set", outer, "master", self.name)
        _start(outer)
        _ip("-n", space, "address", "add", f"{address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", space, "link", "set", device, "up")
        _ip("-n", space, "route", "add", self._outside, "dev", "eth0")
        place = Place(address, ("nsenter", f"--net=/run/netns/{space}"))
        self._places[place] = space
        return place

    @contextmanager
    def cut(self, one: Place, other: Place) -> Iterator[None]:
        """No packet passes between the two in the block."""
        targets = [(self._places[here], to) for here, there in ((one, other), (other, one)) for to in self._of(there)]
        for space, address in targets:
            _ip("-n", space, "neigh", "replace", address, "lladdr", NOBODY, "nud", "permanent", "dev", "eth0")
        try:
            yield
        finally:
            for space, address in targets:
                _ip("-n", space, "neigh", "del", address, "dev", "eth0")

    def move(self, address: str, to: Place) -> None:
        """Give a shared address to a place, which says so to all: as keepalived does."""
        self._shared[address] = to
        for space in self._places.values():
            _ip("-n", space, "address", "del", f"{address}/24", "dev", "eth0", check=False)
        _ip("-n", self._places[to], "address", "add", f"{address}/24", "dev", "eth0")
        for space in self._places.values():
            _ip("-n", space, "neigh", "flush", "dev", "eth0")

    def close(self) -> None:
        _delete(self.name)

    def _claim_subnet(self) -> str:
        for subnet in SUBNETS:
            route = (f"{subnet}.0/24", "dev", self.name, "src", self._outside)
            # Refused if there is a route to it.
            if _ip("route", "add", *route, check=False):
                return subnet
        raise AssertionError(f"no free subnet from {SUBNETS[0]}.0/24 to {SUBNETS[-1]}.0/24")

    def _of(self, place: Place) -> list[str]:
        """All its addresses."""
        return [place.address, *(address for address, holder in self._shared.items() if holder == place)]


def can_cut() -> bool:
    """Whether this user may make network namespaces here, and this machine has an address to reach them from."""
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("nsenter") or not _addresses_of_this_machine():
        return False
    name = f"{PREFIX}{os.getpid()}-0"
    made = _ip("netns", "add", name, check=False)
    _ip("netns", "del", name, check=False)
    return made


def _addresses_of_this_machine() -> list[str]:
    command = ["ip", "-4", "-json", "address", "show", "up", "scope", "global"]
    devices = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return [each["local"] for device in devices for each in device.get("addr_info", ())]


def _start(device: str) -> None:
    """Without the address that a started device gets."""
    _ip("link", "set", device, "addrgenmode", "none")
    _ip("link", "set", device, "up")


def _delete_those_of_dead_runs() -> None:
    names = {path.name.partition("-")[0] for path in Path("/run/netns").glob(f"{PREFIX}*-*")}
    for name in names:
        if not psutil.pid_exists(int(name.removeprefix(PREFIX))):
            _delete(name)


def _delete(name: str) -> None:
    for path in Path("/run/netns").glob(f"{name}-*"):
        # Deleted with its namespace, but some time later.
        _ip("link", "del", path.name.replace("-", "v"), check=False)
        _ip("netns", "del", path.name, check=False)
    _ip("link", "del", name, check=False)


def _ip(*arguments: str, check: bool = True) -> bool:
    ended = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert not check or ended.returncode == 0, f"ip {' '.join(arguments)}: {ended.stderr}"
    return ended.returncode == 0
