"""SIGTERM and Ctrl-C end the service within 10 s, with any open connections, and complete running requests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from random import random
from typing import Any

import psutil
import psycopg
import pytest

from runtime import granian, postgres, processes, program_thread
from runtime.granian import PersistentServer
from tests.faults import slow
from tests.remote import Remote, Reply
from tests.service import ROOT, Service, running_service, runs
from tests.streams.client import following
from tests.waiting import ATTEMPTS, PATIENCE_SECONDS, eventually

LIMIT_SECONDS = 10
# Of each attempt: a busy machine takes its time, but a stop has timeouts of its own.
BUSY_LIMIT_SECONDS = 2 * LIMIT_SECONDS
LIST = f"/api/messages?pageId=p1_{'a' * 32}"
SMALL_GET = b"GET /v1/smart-tags HTTP/1.1\r\nHost: localhost\r\n\r\n"


def press_ctrl_c(service: Service) -> None:
    assert service.process
    os.killpg(service.process.pid, signal.SIGINT)


def terminate_each_process(service: Service) -> None:
    """As systemd does (KillMode=control-group): a worker gets the signal twice, from it and from the main process."""
    for process in processes_of(service):
        # The main process, which has the signal first, may have ended it.
        with suppress(psutil.NoSuchProcess):
            process.terminate()


def processes_of(service: Service) -> list[psutil.Process]:
    assert service.process
    main = psutil.Process(service.process.pid)
    return [main, *main.children(recursive=True)]


@pytest.fixture(scope="module")
def _service() -> Iterator[Service]:
    # With all programs beside the workers.
    with running_service(WORKERS="2", STREAMS="1", WEBHOOKS="1", EMAIL_URL="smtp://127.0.0.1:9") as service:
        yield service


@pytest.fixture
def service(_service: Service) -> Service:
    """One service for the file; the next test starts it again."""
    if _service.process is None or _service.process.poll() is not None:
        _service.start()
    return _service


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("stop", [press_ctrl_c, terminate_each_process])
def test_a_stop_ends_every_process_and_completes_running_requests(
    service: Service, stop: Callable[[Service], None]
) -> None:
    assert any(stops_in_time(service, stop) for _ in range(ATTEMPTS)), service.said()


def stops_in_time(service: Service, stop: Callable[[Service], None]) -> bool:
    """Stop the service. Returns whether its streams and processes ended in time.

    Every time, its requests must be completed and its processes end, at most BUSY_LIMIT_SECONDS later.
    """
    if service.process is None or service.process.poll() is not None:
        service.start()
    with ExitStack() as held:
        answers = held.enter_context(request_under_way(service))
        for held_open in (untouched, idle, stalled):
            held.enter_context(held_open(service.port))
        streams = [held.enter_context(following(service.stream_port)) for _ in range(3)]
        others = processes_of(service)[1:]

        begun = time.monotonic()
        stop(service)
        # Before the requests.
        in_time = all(stream.is_over_within(2) for stream in streams)
        assert service.process
        assert service.process.wait(PATIENCE_SECONDS) == 0, service.said()
        assert eventually(lambda: not any(map(runs, others)))
        took = time.monotonic() - begun
        assert took < BUSY_LIMIT_SECONDS, service.said()
        assert not (service.cluster.folder / "postmaster.pid").exists()
        assert not service.cluster.is_running()
    assert [answer.status for answer in answers] == [200]
    return in_time and took < LIMIT_SECONDS


@contextmanager
def request_under_way(service: Service) -> Iterator[list[Reply]]:
    """A request that waits for a lock, which is released a second after the block begins."""
    answers: list[Reply] = []
    with psycopg.connect(service.cluster.url) as holder:
        holder.execute("LOCK TABLE messaging_message IN ACCESS EXCLUSIVE MODE")
        reader = threading.Thread(target=lambda: answers.append(Remote(service.port).call("GET", LIST)))
        reader.start()
        wait_for_a_waiter(service)
        release = threading.Timer(1, holder.rollback)
        release.start()
        yield answers
        release.join()
        reader.join()


def wait_for_a_waiter(service: Service) -> None:
    with psycopg.connect(service.cluster.url, autocommit=True) as watcher:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not watcher.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
            assert time.monotonic() < deadline
            time.sleep(0.01)


@contextmanager
def untouched(port: int) -> Iterator[None]:
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(socket.create_connection(("127.0.0.1", port)))
        yield


@contextmanager
def idle(port: int) -> Iterator[None]:
    """A keep-alive connection, as of a browser, after one response."""
    with ExitStack() as held:
        for _ in range(4):
            client = held.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(SMALL_GET)
            assert client.recv(15) == b"HTTP/1.1 200 OK"
        yield


@contextmanager
def stalled(port: int) -> Iterator[None]:
    """Half-sent headers, half-sent bodies, and responses that the client does not read; a byte follows now and then."""
    with slow.sockets(port, count=12):
        time.sleep(0.5)
        yield


@pytest.mark.slow
@pytest.mark.processes
def test_a_signal_at_the_end_of_a_worker_is_not_lost() -> None:
    serving = PersistentServer("config.wsgi:application", log_enabled=False)
    # When a worker has ended, granian clears the event, then replaces the worker. This is the state after a signal just
    # before the event is cleared.
    serving.interrupt_signal = True
    serving.main_loop_interrupt.clear()
    serving._respawn_workers([], None, None)
    assert serving.main_loop_interrupt.is_set()


@pytest.mark.slow
@pytest.mark.processes
def test_a_signal_leaves_no_program_running() -> None:
    """At any point of `subprocess.Popen`: an exception raised there would lose the program."""
    # An argument that no other program on this machine has.
    seconds = str(60 + random())
    code = (
        "import signal, sys; from runtime import processes;"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); print('ready', flush=True);"
        f"processes.run(['sleep', '{seconds}'], ended_by=signal.SIGTERM)"
    )
    for delay in (0, 0.02, 0.3):
        main = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
        assert main.stdout
        main.stdout.readline()
        time.sleep(delay)
        main.terminate()
        assert main.wait(PATIENCE_SECONDS) == 7, delay
    assert not [each for each in psutil.process_iter(["cmdline"]) if seconds in (each.info["cmdline"] or ())]


@pytest.mark.slow
@pytest.mark.processes
def test_a_signal_inside_popen_is_deferred(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def interrupted(*arguments: Any, **options: Any) -> Any:
        started.append(popen(*arguments, **options))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        processes.run(["sleep", "60"], ended_by=signal.SIGTERM)
    assert started[0].returncode == -signal.SIGTERM


def test_the_timeouts_of_a_stop_add_up_to_less_than_the_limit() -> None:
    # The programs beside the workers begin to stop with them.
    assert max(granian.STOP_SECONDS, program_thread.STOP_SECONDS) + postgres.STOP_SECONDS < LIMIT_SECONDS
    # The maximum duration of a statement of a request.
    assert granian.STOP_SECONDS >= 5
