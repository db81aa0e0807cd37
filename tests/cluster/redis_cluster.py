"""A Redis with a replica, and a sentinel that promotes it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from redis import Redis, RedisError

from tests.redis_server import program as redis_program
from tests.service import free_port
from tests.waiting import eventually

MASTER = "cm"
QUICKLY = "sentinel down-after-milliseconds {name} 500\nsentinel failover-timeout {name} 3000\n"


class RedisCluster:
    """`servers` are by port; `close` ends all of them."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="cm-redis-cluster-"))
        self.first, self.second, self.sentinel = free_port(), free_port(), free_port()
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self._start(self.first)
        self._start(self.second, "--replicaof", "127.0.0.1", str(self.first))
        assert eventually(lambda: _info(self.second).get("master_link_status") == "up")
        file = self.home / "sentinel.conf"
        watched = f"sentinel monitor {MASTER} 127.0.0.1 {self.first} 1\n" + QUICKLY.format(name=MASTER)
        file.write_text(f"port {self.sentinel}\nbind 127.0.0.1\ndir {self.home}\n{watched}")
        self._run(self.sentinel, str(file), "--sentinel")
        assert eventually(lambda: self.master_port() == self.first and self._knows_replica())

    @property
    def url(self) -> str:
        return f"sentinel://127.0.0.1:1,127.0.0.1:{self.sentinel}/{MASTER}/0"

    def master_port(self) -> int:
        address: Any = Redis(port=self.sentinel).sentinel_get_master_addr_by_name(MASTER)
        return int(address[1]) if address else 0

    def freeze(self, port: int) -> None:
        self.processes[port].send_signal(signal.SIGSTOP)

    def thaw(self, port: int) -> None:
        self.processes[port].send_signal(signal.SIGCONT)

    def wait_for_failover(self, old: int) -> None:
        assert eventually(lambda: self.master_port() not in (0, old))
        new = self.master_port()
        assert eventually(lambda: _info(new).get("role") == "master")

    def is_replica(self, port: int) -> bool:
        return _info(port).get("role") == "slave"

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
        shutil.rmtree(self.home)

    def _knows_replica(self) -> bool:
        return bool(Redis(port=self.sentinel).sentinel_slaves(MASTER))

    def _start(self, port: int, *options: str) -> None:
        self._run(port, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.home), *options)
        assert eventually(lambda: bool(_info(port)))

    def _run(self, port: int, *arguments: str) -> None:
        self.processes[port] = subprocess.Popen([redis_program(), *arguments], stdout=subprocess.DEVNULL)


def _info(port: int) -> dict[str, object]:
    try:
        return dict(Redis(port=port, socket_timeout=1).info("replication"))
    except RedisError:
        return {}
