"""The faults. Each function injects one, and returns when it is over."""

from __future__ import annotations

import os
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import psycopg

from runtime import sockets
from tests.faults import slow
from tests.faults.environment import SERVICE_NAME, SETTINGS, Environment, freeze, thaw
from tests.faults.releases import five_hosts_at_once, migrated_behind_a_reader, migrated_while_serving
from tests.host_clock import AHEAD, run_ahead
from tests.service import a_service
from tests.streams.faults import kill_stream_process, terminate_listener
from tests.waiting import PATIENCE_SECONDS

# Those that have a due time.
JOBS = ("announce_expiring_tokens", "prune", "roll_up_desk", "exports", "records", "erasures", "imports")
Fault = Callable[[Environment], None]
FAULT_SECONDS = 0.5
CONNECTIONS_AT_ONCE = 30
TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"


def worker_killed(environment: Environment) -> None:
    random.choice(environment.service.workers()).kill()


def all_workers_killed(environment: Environment) -> None:
    for worker in environment.service.workers():
        worker.kill()


def worker_frozen(environment: Environment) -> None:
    worker = random.choice(environment.service.workers())
    freeze(worker)
    time.sleep(FAULT_SECONDS)
    thaw(worker)


def main_process_killed(environment: Environment) -> None:
    workers = environment.service.workers()
    assert environment.service.process
    environment.service.process.kill()
    environment.service.process.wait()
    psutil.wait_procs(workers, timeout=PATIENCE_SECONDS)
    environment.service.start()


def stopped_and_started(environment: Environment) -> None:
    assert environment.service.stop() == 0
    environment.service.start()


def postgres_crash(environment: Environment) -> None:
    environment.service.cluster.stop("immediate")
    time.sleep(random.uniform(0, FAULT_SECONDS))
    environment.service.cluster.start()


def postgres_restart(environment: Environment) -> None:
    environment.service.cluster.stop("fast")
    time.sleep(random.uniform(0, FAULT_SECONDS))
    environment.service.cluster.start()


def postgres_frozen(environment: Environment) -> None:
    frozen = environment.backends()
    for backend in frozen:
        freeze(backend)
    time.sleep(FAULT_SECONDS)
    for backend in frozen:
        with suppress(psutil.NoSuchProcess):
            thaw(backend)


def backends_terminated(environment: Environment) -> None:
    environment.rows(TERMINATE, SERVICE_NAME)


def backend_killed(environment: Environment) -> None:
    """As the kernel kills a process without memory; PostgreSQL then ends every session and recovers."""
    if backends := environment.backends():
        random.choice(backends).kill()


def connections_exhausted(environment: Environment) -> None:
    """Another client opens every free connection and sends nothing."""
    address = str(environment.service.cluster.socket_folder / sockets.NAME)
    with ExitStack() as stack:
        administrator = stack.enter_context(_connection(environment))
        end = time.monotonic() + FAULT_SECONDS
        while time.monotonic() < end:
            for _ in range(CONNECTIONS_AT_ONCE):
                silent = stack.enter_context(socket.socket(socket.AF_UNIX))
                with suppress(OSError):
                    silent.connect(address)
            administrator.execute(TERMINATE, [SERVICE_NAME])


def tables_locked(environment: Environment) -> None:
    """Lock a table, as a migration does, for longer than a request waits for a lock (2 s)."""
    with _connection(environment) as session, session.transaction():
        session.execute("LOCK TABLE messaging_message IN ACCESS EXCLUSIVE MODE")
        time.sleep(3.5)


def deadlock(environment: Environment) -> None:
    """Lock rows of posts in the wrong order. A long deadlock_timeout makes PostgreSQL abort the service's write."""
    wrong_order = "SELECT 1 FROM messaging_message WHERE id = %s FOR UPDATE"
    roots = environment.rows("SELECT id FROM messaging_message WHERE content LIKE 'root %%' ORDER BY id")
    with _connection(environment) as session, session.transaction():
        session.execute("SET LOCAL deadlock_timeout = '10s'")
        for (root,) in reversed(roots):
            session.execute(wrong_order, [root])
            time.sleep(0.05)


def redis_killed(environment: Environment) -> None:
    environment.kill_redis()
    time.sleep(FAULT_SECONDS)
    environment.start_redis()


def redis_frozen(environment: Environment) -> None:
    freeze(environment.redis)
    time.sleep(FAULT_SECONDS)
    thaw(environment.redis)


def redis_flushed(environment: Environment) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(environment.redis_home / "redis.sock"))
        connection.sendall(b"FLUSHALL\r\n")
        assert connection.recv(16).startswith(b"+OK")


def missing_secret(environment: Environment) -> None:
    """A second host without the root key, or with another one, refuses to start, since it could not replay."""
    shared = SETTINGS | {"DATABASE_URL": environment.service.cluster.url} | environment.service.secrets()
    for root_key in ("", f"of-another-service-{'0' * 50}"):
        with a_service(**shared | {"ROOT_KEY": root_key}) as second:
            assert second.launch().wait(PATIENCE_SECONDS) == 1, second.said()
            assert second.said().startswith("make run: ROOT_KEY is "), second.said()


def slow_sockets(environment: Environment) -> None:
    """Through the proxy: ten clients each with slow headers, a slow body and slow reading."""
    with slow.sockets(environment.proxy_port, count=30):
        time.sleep(FAULT_SECONDS)


def clock_ahead(environment: Environment) -> None:
    """Scheduled commands on a host with a clock an hour, then eight days, ahead of the database clock."""
    for seconds in AHEAD:
        for name in JOBS:
            run_ahead(seconds, environment.service.environment, "run_job", name)


def disk_full(environment: Environment) -> None:
    with ballast(environment.service.data / "ballast"):
        time.sleep(2 * FAULT_SECONDS)
    # PostgreSQL stops if it cannot write its log; its operator starts it again.
    environment.service.cluster.start()


@contextmanager
def ballast(file: Path) -> Iterator[None]:
    """Fill the disk completely."""
    with file.open("wb") as ballast:
        size = 1 << 20
        while size:
            try:
                os.posix_fallocate(ballast.fileno(), ballast.seek(0, os.SEEK_END), size)
            except OSError:
                size >>= 1
        yield
    file.unlink()


def stream_process_killed(environment: Environment) -> None:
    kill_stream_process(environment.service)


def listener_terminated(environment: Environment) -> None:
    terminate_listener(environment.service)


def _connection(environment: Environment) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(environment.service.cluster.url, autocommit=True)


# The faults of `make faults`, and how often each is injected.
FAULTS: dict[Fault, int] = {
    worker_killed: 30,
    all_workers_killed: 20,
    worker_frozen: 20,
    main_process_killed: 10,
    stopped_and_started: 10,
    postgres_crash: 30,
    postgres_restart: 20,
    postgres_frozen: 20,
    backends_terminated: 30,
    backend_killed: 20,
    connections_exhausted: 20,
    tables_locked: 5,
    deadlock: 20,
    redis_killed: 20,
    redis_frozen: 20,
    redis_flushed: 20,
    slow_sockets: 20,
    clock_ahead: 5,
    missing_secret: 5,
    migrated_while_serving: 10,
    migrated_behind_a_reader: 5,
    five_hosts_at_once: 2,
    disk_full: 10,
    stream_process_killed: 20,
    listener_terminated: 20,
}
# Beside the load, a stream and the list of the page's changes are followed: each acknowledged post must arrive in both
# once, in the order of the log.
FOLLOWED = {
    *(stream_process_killed, listener_terminated, worker_killed, all_workers_killed, main_process_killed),
    *(postgres_crash, postgres_restart, backends_terminated),
}
SMALL_DISK_FAULTS: set[Fault] = {disk_full}
THROUGH_PROXY: set[Fault] = {slow_sockets}
# The load is divided between a host of this release and one of the next, as in a rolling upgrade.
ON_TWO_HOSTS = {migrated_while_serving}
# The longest wait for one response, in seconds: a write that a deadlock aborts is tried again within STATEMENT_TIMEOUT,
# and the locks of this fault are held for less than a second.
SLOWEST: dict[Fault, float] = {deadlock: 5.0}
# No response is a 5xx.
ANSWERED_THROUGHOUT = {migrated_while_serving, migrated_behind_a_reader}
