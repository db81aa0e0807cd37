"""Driving a server with `wrk`, the load generator."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import time_ns

SCRIPT = Path(__file__).with_name("requests.lua")
# One thread of wrk keeps a server of two workers busy and leaves it most of the processor.
THREADS = 1
CONNECTIONS = 32
_runs = count(time_ns())


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `{n}` in a header becomes another number each time it is sent."""

    path: str
    method: str = "GET"
    headers: Mapping[str, str] | None = None
    body: bytes = b""

    def line(self) -> str:
        headers = "\1".join(f"{name}: {value}" for name, value in (self.headers or {}).items())
        return "\t".join((self.method, self.path, headers, self.body.decode()))


@dataclass(frozen=True, slots=True)
class Result:
    """One run: requests a second, latencies in microseconds, bytes of one answer with its head."""

    rate: float
    p50: int
    p99: int
    size: int
    failed: int


def require() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("The benchmark drives the servers with wrk, which is missing: apt-get install wrk")


def run(port: int, requests: Iterable[Request], *, seconds: float) -> Result:
    """Send `requests` round and round for so many seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".requests") as file:
        file.writelines(request.line() + "\n" for request in requests)
        file.flush()
        command = ["wrk", f"-t{THREADS}", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "10s", "-s", str(SCRIPT)]
        address = f"http://127.0.0.1:{port}"
        said = subprocess.run(
            [*command, address, "--", file.name, str(next(_runs))], check=True, capture_output=True, text=True
        ).stdout
    told = json.loads(said.strip().rpartition("\n")[2])
    sent = max(1, told["requests"])
    return Result(
        rate=told["requests"] / told["seconds"],
        p50=told["p50"],
        p99=told["p99"],
        size=told["bytes"] // sent,
        failed=told["failed"],
    )
