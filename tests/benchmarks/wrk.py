"""Runs `wrk`, the load generator."""

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
    """One HTTP request. `{n}` in a header becomes a unique number at each call."""

    path: str
    method: str = "GET"
    headers: Mapping[str, str] | None = None
    body: bytes = b""

    def line(self) -> str:
        headers = "\1".join(f"{name}: {value}" for name, value in (self.headers or {}).items())
        return "\t".join((self.method, self.path, headers, self.body.decode()))


@dataclass(frozen=True, slots=True)
class Result:
    """One run: requests a second, latencies in microseconds, bytes of one response with its headers."""

    rate: float
    p50: int
    p99: int
    size: int
    failed: int


def require() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("The benchmark needs wrk, which is not installed: apt-get install wrk")


def run(port: int, requests: Iterable[Request], *, seconds: float) -> Result:
    """Send `requests` in a loop for `seconds`."""
    with tempfile.NamedTemporaryFile("w", suffix=".requests") as file:
        file.writelines(request.line() + "\n" for request in requests)
        file.flush()
        command = ["wrk", f"-t{THREADS}", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "10s", "-s", str(SCRIPT)]
        address = f"http://127.0.0.1:{port}"
        output = subprocess.run(
            [*command, address, "--", file.name, str(next(_runs))], check=True, capture_output=True, text=True
        ).stdout
    summary = json.loads(output.strip().rpartition("\n")[2])
    sent = max(1, summary["requests"])
    return Result(
        rate=summary["requests"] / summary["seconds"],
        p50=summary["p50"],
        p99=summary["p99"],
        size=summary["bytes"] // sent,
        failed=summary["failed"],
    )
