"""All of a cluster as processes: PostgreSQL with standbys, PgBouncer, Redis with a replica, three hosts, nginx."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psutil
import psycopg

from kernel.database import urls
from runtime.postgres import SUPERUSER
from tests.clients import Clients
from tests.cluster.environment import ClusterEnvironment
from tests.cluster.network import Network
from tests.cluster.pooler import Pooler
from tests.cluster.postgres import Place, PostgresCluster
from tests.cluster.proxy import Proxy
from tests.cluster.reaching import accepts, exchange
from tests.faults.environment import SETTINGS
from tests.faults.hosts import SECRETS
from tests.redis_server import program as redis_program
from tests.service import ROOT, Service, free_port
from tests.waiting import PATIENCE_SECONDS, eventually

HOSTS = 3
# The last part of the address of the Redis that takes writes, in a network.
REDIS_NUMBER = 200


class Host(Service):
    """A host of the service in a place."""

    def __init__(self, data: Path, place: Place, **environment: str) -> None:
        super().__init__(data, HOST=place.address, **environment)
        self.place = place

    @property
    def address(self) -> str:
        return f"http://{self.place.address}:{self.port}"

    def launch(self) -> subprocess.Popen[bytes]:
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*self.place.enter, sys.executable, "-m", "runtime.run"],
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return self.process

    def kill(self) -> None:
        """All its processes at once, as a machine that loses its power."""
        assert self.process
        main = psutil.Process(self.process.pid)
        processes = [main, *main.children(recursive=True)]
        for process in processes:
            process.kill()
        psutil.wait_procs(processes, timeout=PATIENCE_SECONDS)
        self.process.wait()

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.kill()


class Redis:
    """One of two servers; `follow` makes it the replica of the other."""

    def __init__(self, home: Path, place: Place) -> None:
        self.home, self.place, self.port = home, place, free_port()
        home.mkdir()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        command = [*self.place.enter, redis_program(), "--port", str(self.port), "--dir", str(self.home)]
        command += ["--save", "", "--protected-mode", "no"]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)
        assert eventually(lambda: accepts(self.place, self.port))

    def say(self, command: str) -> bytes:
        said = exchange(self.place, self.port, f"{command}\r\n")
        assert said is not None, "Redis does not answer"
        return said

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()


class Stack:
    """The constructor starts all; `close` ends all and deletes it. With `cuts` each part has a network of its own.

    Of several `hosts` the last one does without the pooler.
    """

    # The primary first.
    redis: list[Redis]

    def __init__(self, *, cuts: bool, hosts: int = HOSTS, **variables: str) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="cm-stack-"))
        self.home.chmod(0o755)
        self._running = ExitStack()
        self._repairs: list[Callable[[], None]] = []
        self._running.callback(shutil.rmtree, self.home, ignore_errors=True)
        self.network = Network() if cuts else None
        if self.network:
            self._running.callback(self.network.close)
        try:
            self._start(hosts, variables)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._running.close()

    def place(self) -> Place:
        return self.network.place() if self.network else Place()

    def promote(self) -> None:
        """The operator's failover: another primary, of which the pooler is told."""
        self.postgres.promote()
        self.pooler.point_to(self.postgres.primary)

    def later(self, repair: Callable[[], None]) -> None:
        """What `repair` does: it brings back a part that the service can do without."""
        self._repairs.append(repair)

    def repair(self) -> None:
        while self._repairs:
            self._repairs.pop()()

    def fail_over_redis(self) -> None:
        """The replica takes over the address of the other one, which comes back as a replica."""
        old, new = self.redis
        old.kill()
        new.say("REPLICAOF NO ONE")
        self._move_redis(new)
        old.start("--replicaof", new.place.address, str(new.port))
        self.redis = [new, old]

    def _start(self, hosts: int, variables: dict[str, str]) -> None:
        self.postgres = self._running.enter_context(PostgresCluster(places=[self.place() for _ in range(3)]))
        with psycopg.connect(self.postgres.primary.admin_url, autocommit=True) as session:
            for name, value in urls.session_settings(5000).items():
                session.execute(f"ALTER ROLE {SUPERUSER} SET {name} = '{value}'")
        self.pooler = Pooler(self.home / "pooler", self.place())
        self._running.callback(self.pooler.kill)
        self.pooler.start(self.postgres.primary)
        self._start_redis()
        self.proxy = Proxy(self.home / "nginx", self.place())
        self._running.callback(self.proxy.close)
        shared = SECRETS | SETTINGS | {"WORKERS": "1", "REDIS_URL": self._redis_url()} | variables
        shared |= {"BASE_URL": f"http://127.0.0.1:{self.proxy.port}", "TRUSTED_PROXIES": self.proxy.place.address}
        shared |= {"READ_DATABASE_URL": self.postgres.url.partition("?")[0], "DATABASE_URL": self.postgres.url}
        pooled = {"DATABASE_POOLER": "1", "DATABASE_URL": self.pooler.url, "DATABASE_DIRECT_URL": self.postgres.url}
        self.hosts = [
            # Each host that fills the demo revokes the token of the one before.
            Host(
                self.home / f"host{number}",
                self.place(),
                **shared | (pooled if number < hosts - 1 else {}) | ({"DEMO": "0"} if number else {}),
            )
            for number in range(hosts)
        ]
        for host in self.hosts:
            self._running.callback(host.close)
            host.launch()
        for host in self.hosts:
            host.wait_until_it_runs()
        self.proxy.start(self.hosts)
        # Commands run here, and requests go through nginx.
        front = Service(self.home / "front", **shared)
        front.port = self.proxy.port
        self.environment = ClusterEnvironment(
            service=front,
            clients=Clients(front),
            proxy_port=self.proxy.port,
            redis_home=self.home,
            redis=self.redis[0].process,  # type: ignore[arg-type]
            variables=shared,
            running=self._running,
            cluster=self.postgres,
            poolers={},
        )

    def _start_redis(self) -> None:
        self.redis = [Redis(self.home / f"redis{number}", self.place()) for number in range(2)]
        if self.network:
            # The address moves, and the port is the same.
            self.redis[1].port = self.redis[0].port
        for each in self.redis:
            self._running.callback(each.kill)
        self.redis[0].start()
        self._move_redis(self.redis[0])
        self.redis[1].start("--replicaof", self.redis[0].place.address, str(self.redis[0].port))

    def _redis_url(self) -> str:
        address = self._redis_address(self.network) if self.network else self.redis[0].place.address
        return f"redis://{address}:{self.redis[0].port}/0"

    def _move_redis(self, to: Redis) -> None:
        if self.network:
            self.network.move(self._redis_address(self.network), to.place)

    @staticmethod
    def _redis_address(network: Network) -> str:
        return f"{network.subnet}.{REDIS_NUMBER}"
