"""nginx before the hosts, with the configuration in `deploy/`."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tests.cluster.postgres import Place
from tests.nginx import PROGRAM, configuration, with_servers
from tests.waiting import eventually

LOG = (
    "$request_id $request_method $uri $status in $request_time s; "
    "hosts $upstream_addr: $upstream_status in $upstream_response_time s"
)


class Upstream(Protocol):
    place: Place
    port: int
    stream_port: int


class Proxy:
    """Clients are on this machine, and so is its port; its connections to the hosts are made in its place."""

    def __init__(self, home: Path, place: Place) -> None:
        self.home, self.place = home, place
        home.mkdir()
        # Started by root, nginx runs its workers as another user.
        home.chmod(0o755)
        self._listener = socket.create_server(("127.0.0.1", 0))
        # As nginx opens it: a worker would wait in accept() for a connection that another one has taken.
        self._listener.setblocking(False)
        self.port = int(self._listener.getsockname()[1])
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, hosts: Sequence[Upstream]) -> None:
        assert PROGRAM, "The cluster needs nginx on PATH."
        file, pid = self.home / "nginx.conf", self.home / "pid"
        file.write_text(self._configuration(hosts))
        options = ["-p", str(self.home), "-c", str(file), "-e", "stderr", "-g", f"daemon off; pid {pid};"]
        with (self.home / "log").open("wb") as output:
            self.process = subprocess.Popen(
                [*self.place.enter, PROGRAM, *options],
                stderr=output,
                start_new_session=True,
                # A socket stays in the network in which it was opened.
                pass_fds=[self._listener.fileno()],
                env=os.environ | {"NGINX": f"{self._listener.fileno()};"},
            )
        assert eventually(lambda: pid.exists() or self.process.poll() is not None)  # type: ignore[union-attr]
        assert self.process.poll() is None, (self.home / "log").read_text()

    def said_about(self, request_id: str) -> str:
        """Its line about a request."""
        with self._requests.open() as lines:
            return next((line.strip() for line in lines if request_id and line.startswith(request_id)), "")

    def close(self) -> None:
        self._listener.close()
        if self.process:
            self.process.terminate()
            self.process.wait()

    @property
    def _requests(self) -> Path:
        return self.home / "requests"

    def _configuration(self, hosts: Sequence[Upstream]) -> str:
        text = configuration(self.port, 1, 2, self.home)
        for number, name in ((1, "port"), (2, "stream_port")):
            text = with_servers(text, number, [f"{host.place.address}:{getattr(host, name)}" for host in hosts])
        return text.replace("access_log off;", f"log_format hosts '{LOG}';\n    access_log {self._requests} hosts;")
