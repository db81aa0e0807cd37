"""The proxy of deploy/nginx.conf before a running service: that very file, but for ports and places."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.remote import Remote
from tests.service import ROOT, free_port

TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
START_SECONDS = 10


@contextmanager
def nginx_before(service_port: int) -> Iterator[int]:
    """The port of an nginx that passes requests on to `service_port`."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    port, home = free_port(), Path(tempfile.mkdtemp(prefix="cm-nginx-"))
    # Under root its workers are another user.
    home.chmod(0o755)
    file = home / "nginx.conf"
    file.write_text(configuration(port, service_port, home))
    command = [program, "-p", home, "-c", file, "-e", "stderr", "-g", f"daemon off; pid {home}/pid;"]
    nginx = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _wait_until_open(nginx, port)
        yield port
    finally:
        nginx.terminate()
        nginx.wait()
        shutil.rmtree(home)


def configuration(port: int, service_port: int, home: Path) -> str:
    places = "".join(f"    {name}_temp_path {home}/{name};\n" for name in TEMPORARY)
    changes = {
        "http {\n": f"http {{\n{places}",
        "server 127.0.0.1:8000;": f"server 127.0.0.1:{service_port};",
        "listen 8080;": f"listen 127.0.0.1:{port};",
    }
    text = (ROOT / "deploy/nginx.conf").read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def _wait_until_open(nginx: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        assert nginx.poll() is None, "nginx did not start"
        try:
            Remote(port, timeout=1).call("GET", "/v1/smart-tags")
        except OSError:
            assert time.monotonic() < deadline, "nginx does not come up"
            time.sleep(0.02)
        else:
            return
