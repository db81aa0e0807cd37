"""PgBouncer in a place, with the configuration in `deploy/`."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from runtime import postgres_binaries
from runtime.postgres import DATABASE, SUPERUSER
from tests.cluster.postgres import Place, Server
from tests.cluster.reaching import accepts
from tests.pgbouncer import PROGRAM, USERS
from tests.pgbouncer import configuration as pgbouncer_configuration
from tests.service import free_port
from tests.waiting import eventually


class Pooler:
    """Before one server; `point_to` another one."""

    def __init__(self, home: Path, place: Place) -> None:
        self.home, self.place, self.port = home, place, free_port()
        home.mkdir()
        home.chmod(0o755)
        (home / "users").write_text("".join(f'"{user}" ""\n' for user in USERS))
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://{SUPERUSER}@{self.place.address}:{self.port}/{DATABASE}"

    def start(self, primary: Server) -> None:
        self.point_to(primary)
        as_user = ["-u", postgres_binaries.owner().pw_name] if os.geteuid() == 0 else []
        with (self.home / "out").open("ab") as output:
            command = [*self.place.enter, PROGRAM, *as_user, str(self.home / "ini")]
            self.process = subprocess.Popen(command, stdout=output, stderr=output)
        assert eventually(lambda: accepts(self.place, self.port)), (self.home / "out").read_text()

    def point_to(self, primary: Server) -> None:
        """Another primary; what an operator's failover does. Takes effect at once."""
        text = pgbouncer_configuration(primary.place.address, primary.port, self.port, self.home)
        (self.home / "ini").write_text(text.replace("listen_addr = 127.0.0.1", f"listen_addr = {self.place.address}"))
        if self.process:
            self.process.send_signal(signal.SIGHUP)

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
