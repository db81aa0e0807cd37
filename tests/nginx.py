"""Runs nginx with deploy/nginx.conf in front of a service; only ports and folders differ."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.remote import Remote
from tests.service import ROOT, free_port
from tests.waiting import PATIENCE_SECONDS

# Debian installs it in /usr/sbin, which is not on the PATH of ordinary users.
PROGRAM = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
needs_nginx = pytest.mark.skipif(PROGRAM is None, reason="no nginx: put one on PATH")
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@contextmanager
def nginx_before(service_port: int, stream_port: int | None = None, *, others: Sequence[int] = ()) -> Iterator[int]:
    """The port of an nginx that forwards requests to `service_port`, and streams to `stream_port`, by default the same.

    Without a stream process, the workers refuse streams. `others`: the ports of further hosts for requests.
    """
    assert PROGRAM, "The tests of faults and of the proxy need nginx on PATH."
    port, home = free_port(), Path(tempfile.mkdtemp(prefix="cm-nginx-"))
    # Started by root, nginx runs its workers as another user.
    home.chmod(0o755)
    file = home / "nginx.conf"
    text = configuration(port, service_port, stream_port or service_port, home)
    file.write_text(with_servers(text, service_port, [f"127.0.0.1:{each}" for each in (service_port, *others)]))
    command = [str(PROGRAM), "-p", str(home), "-c", str(file), "-e", "stderr", "-g", f"daemon off; pid {home}/pid;"]
    nginx = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _wait_until_open(nginx, port)
        yield port
    finally:
        nginx.terminate()
        nginx.wait()
        shutil.rmtree(home)


def configuration(port: int, service_port: int, stream_port: int, home: Path) -> str:
    folders = "".join(f"    {name}_temp_path {home}/{name};\n" for name in TEMPORARY)
    changes = {
        "http {\n": f"http {{\n{folders}",
        "server 127.0.0.1:8000 ": f"server 127.0.0.1:{service_port} ",
        "server 127.0.0.1:8001 ": f"server 127.0.0.1:{stream_port} ",
        "listen 8080;": f"listen 127.0.0.1:{port};",
    }
    text = (ROOT / "deploy/nginx.conf").read_text()
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def with_servers(text: str, port: int, addresses: Sequence[str]) -> str:
    """A configuration with these servers in place of the one at `port`; several are backups, too."""
    servers = " ".join(rf"server {address}\1;" for address in addresses)
    comment = "(?:# )?" if len(addresses) > 1 else ""
    return re.sub(rf"{comment}server 127\.0\.0\.1:{port}( [^;]*);", servers, text, count=2)


def _wait_until_open(nginx: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        assert nginx.poll() is None, "nginx did not start"
        try:
            Remote(port, timeout=1).call("GET", "/v1/smart-tags")
        except OSError:
            assert time.monotonic() < deadline, "nginx did not accept connections in time"
            time.sleep(0.02)
        else:
            return
