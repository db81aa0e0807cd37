"""The servers of one run, all on one database: the bare application, and the service in each of its forms."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import psutil

from tests.benchmarks import streams
from tests.benchmarks.scenarios import Form
from tests.service import ROOT, Service, free_port

SECRETS = {name: name.lower() + "-of-the-benchmark-" + "0" * 40 for name in ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")}
START_SECONDS = 30
# Of the bare application's workers, which import the service, beside other load.
ANSWER_SECONDS = 120


class Bare:
    """The bare application on the server of the service."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", "tests.benchmarks.bare_server"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment | {"PORT": str(self.port)})
        try:
            _wait_for_answer(self.port)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


@contextmanager
def running(home: Path, database_url: str) -> Iterator[tuple[Bare, dict[Form, Service]]]:
    """Run all servers; with Redis only if REDIS_URL is set or a redis-server is on PATH."""
    environment = SECRETS | {"DATABASE_URL": database_url}
    with ExitStack() as stack:
        forms = {Form.PLAIN: {}, Form.UNCACHED: {"RESPONSE_CACHE_MEGABYTES": "0"}}
        redis_url = os.environ.get("REDIS_URL") or _start_redis(stack)
        if redis_url:
            forms[Form.REDIS] = {"REDIS_URL": redis_url}
        bare = Bare({**os.environ, **environment, "DATA_DIR": str(home / "bare")})
        stack.callback(bare.close)
        services = {}
        for form, special in forms.items():
            folder = home / form.name.lower()
            folder.mkdir(parents=True, exist_ok=True)
            services[form] = service = Service(folder, **environment, **special)
            service.start()
            stack.callback(service.stop)
        yield bare, services


@contextmanager
def with_streams(home: Path, database_url: str) -> Iterator[Service]:
    """A service with its stream process."""
    folder = home / "streams"
    folder.mkdir(parents=True, exist_ok=True)
    service = Service(folder, **SECRETS, DATABASE_URL=database_url, **streams.ENVIRONMENT)
    service.start()
    try:
        yield service
    finally:
        service.stop()


def memory(service: Service) -> int:
    """Megabytes of the larger worker."""
    return max(worker.memory_info().rss for worker in service.workers()) // 2**20


def processor_seconds(process: psutil.Process) -> float:
    """The processor time of all processes of a server."""
    seconds = 0.0
    for each in [process, *process.children(recursive=True)]:
        # Auxiliary processes of PostgreSQL may end meanwhile.
        with suppress(psutil.NoSuchProcess):
            seconds += sum(each.cpu_times()[:2])
    return seconds


def _start_redis(stack: ExitStack) -> str | None:
    if shutil.which("redis-server") is None:
        return None
    port = free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    stack.callback(server.terminate)
    _wait_for(port)
    return f"redis://127.0.0.1:{port}/0"


def _wait_for_answer(port: int) -> None:
    """The port of a server is open before its workers have loaded the application, and if they cannot load it."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while True:
        try:
            urlopen(f"http://127.0.0.1:{port}/api/messages?pageId=none", timeout=5).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
