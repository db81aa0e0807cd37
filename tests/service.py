"""The whole service as real processes, with a data folder, a PostgreSQL and a port."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import psutil

from config import secrets
from runtime.postgres import Cluster, embedded
from tests.temporary_cluster import copy_cluster
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parent.parent
# Below 32768, from where Linux chooses the ports of outgoing connections and of servers that bind port 0.
FIRST_PORT, PORTS_OF_WORKER, WORKERS_MAX = 20_000, 1_500, 8
_ports = count(random.randrange(PORTS_OF_WORKER))


class Service:
    """`python -m runtime.run`, as `make run` starts it, without the demo. `environment` adds variables."""

    def __init__(self, data: Path, **environment: str) -> None:
        self.data = data
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        self.stream_port = free_port()
        # Tests of streams start the stream process with STREAMS=1.
        ports = {"PORT": str(self.port), "STREAM_PORT": str(self.stream_port)}
        self.environment = inherited | {"DATA_DIR": str(data), "DEMO": "0", "STREAMS": "0"} | ports | environment
        self.output = data.with_name(data.name + ".out")
        self.working_folder = ROOT
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def cluster(self) -> Cluster:
        """Its PostgreSQL: `stop("immediate")` crashes it, `start()` restarts it, `url` connects to it."""
        return embedded(self.data)

    def copy_template(self) -> None:
        """Before the first start: begin with a migrated database, if this run has one.

        The template has no fingerprints. A service with a database creates no secrets, so they are created here.
        """
        template = os.environ.get("TEMPLATE_CLUSTER")
        if not template or "DATABASE_URL" in self.environment:
            return
        given = [bool(self.environment.get(name)) for name in secrets.NAMES]
        if any(given) and not all(given):
            return
        copy_cluster(Path(template), self.cluster.folder)
        if not any(given):
            (self.data / "secrets.json").write_text(json.dumps({name: secrets.new() for name in secrets.NAMES}))

    def start(self) -> None:
        """Start the service, and wait until it prints that it runs."""
        self.launch()
        self.wait_until_it_runs()

    def wait_until_it_runs(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while "runs at" not in self.said():
            assert self.process
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.05)

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the process in a new process group, which `interrupt` signals as Ctrl-C does."""
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "runtime.run"],
                cwd=self.working_folder,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return self.process

    def said(self) -> str:
        return self.output.read_text()

    def secrets(self) -> dict[str, str]:
        """Its secrets, given or generated; a second host needs the same."""
        given = {name: self.environment.get(name, "") for name in secrets.NAMES}
        file = self.data / "secrets.json"
        return given if all(given.values()) else json.loads(file.read_text())

    def workers(self) -> list[psutil.Process]:
        """The worker processes."""
        assert self.process
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if "spawn_main" in " ".join(_arguments(child))]

    def supervised(self, program: str) -> list[psutil.Process]:
        """The processes beside the workers that run a module or a management command."""
        assert self.process
        return [child for child in psutil.Process(self.process.pid).children() if program in _arguments(child)]

    def interrupt(self) -> int:
        """Ctrl-C. Returns the exit status."""
        assert self.process
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(PATIENCE_SECONDS)

    def stop(self) -> int:
        """SIGTERM, as a service manager sends it. Returns the exit status."""
        assert self.process
        self.process.terminate()
        return self.process.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.stop()
        self.cluster.stop("immediate")


@contextmanager
def a_service(**environment: str) -> Iterator[Service]:
    """A service that is not started; it is stopped and its folder deleted at the end.

    It has one worker, unless the test is about several.
    """
    home = Path(tempfile.mkdtemp(prefix="cm-service-"))
    service = Service(home / "data", **{"WORKERS": "1"} | environment)
    try:
        yield service
    finally:
        service.close()
        shutil.rmtree(home)


@contextmanager
def running_service(**environment: str) -> Iterator[Service]:
    with a_service(**environment) as service:
        service.copy_template()
        service.start()
        yield service


def _arguments(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


def runs(process: psutil.Process) -> bool:
    """Whether it has not ended. The new parent of an orphan may collect its exit status late."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def free_port() -> int:
    """A port that is still free when a process binds it later: no other worker of the suite chooses the same."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while True:
        port = FIRST_PORT + worker % WORKERS_MAX * PORTS_OF_WORKER + next(_ports) % PORTS_OF_WORKER
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
