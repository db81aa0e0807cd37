"""The environment of the faults: a service, its PostgreSQL, its Redis and a proxy, all real processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.clients import Clients
from tests.faults.hosts import SECRETS
from tests.nginx import nginx_before
from tests.redis_server import start_redis
from tests.service import ROOT, Service

SERVICE_NAME = "community-messaging"
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.faults.settings", "PYTHONPATH": str(ROOT)}


@dataclass(slots=True)
class Environment:
    service: Service
    clients: Clients
    proxy_port: int
    redis_home: Path
    redis: subprocess.Popen[bytes]
    variables: dict[str, str]
    running: ExitStack
    _second: Service | None = None

    def second_host(self, **variables: str) -> Service:
        """Another service on the same database, started at the first call with these variables besides."""
        if self._second is None:
            shared = self.variables | {"DATABASE_URL": self.service.cluster.url} | variables
            self._second = Service(self.service.data.with_name("second"), **shared)
            self.running.callback(self._second.close)
            self._second.start()
        return self._second

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Query the database directly."""
        with psycopg.connect(self.service.cluster.url, autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def backends(self) -> list[psutil.Process]:
        """The PostgreSQL processes of the connections of the service."""
        backends = self.rows("SELECT pid FROM pg_stat_activity WHERE application_name = %s", SERVICE_NAME)
        return [psutil.Process(pid) for (pid,) in backends if psutil.pid_exists(pid)]

    def kill_redis(self) -> None:
        self.redis.kill()
        self.redis.wait()

    def start_redis(self) -> None:
        self.redis = start_redis(self.redis_home)


@contextmanager
def an_environment(*, disk_bytes: int | None = None, **settings: str) -> Iterator[Environment]:
    """A started environment; it is stopped and deleted at the end. `settings` are added to those of the service.

    With `disk_bytes` the data folder is a file system of that size, and the service uses no Redis.
    """
    home = Path(tempfile.mkdtemp(prefix="cm-faults-"))
    with ExitStack() as running:
        running.callback(shutil.rmtree, home, ignore_errors=True)
        (home / "redis").mkdir()
        (home / "data").mkdir()
        if disk_bytes is not None:
            running.enter_context(small_disk(home / "data", disk_bytes))
        redis = start_redis(home / "redis")
        shared = {} if disk_bytes is not None else {"REDIS_URL": f"unix://{home}/redis/redis.sock"}
        # The heartbeat lets the followers of streams notice a fault soon.
        variables = SETTINGS | SECRETS | shared | {"STREAMS": "1", "STREAM_HEARTBEAT_SECONDS": "1"} | settings
        service = Service(home / "data", **variables)
        running.callback(service.close)
        if disk_bytes is None:
            service.copy_template()
        service.start()
        proxy_port = running.enter_context(nginx_before(service.port))
        environment = Environment(service, Clients(service), proxy_port, home / "redis", redis, variables, running)
        running.callback(environment.kill_redis)
        yield environment


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def can_mount() -> bool:
    """Only root can mount a file system."""
    return os.geteuid() == 0 and shutil.which("mount") is not None


def freeze(process: psutil.Process | subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGSTOP)


def thaw(process: psutil.Process | subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGCONT)
