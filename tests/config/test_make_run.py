"""`make run` with real processes: start, stop, restart and errors."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.faults import slow
from tests.service import ROOT, Service, a_service, runs
from tests.streams.faults import stream_processes
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]


@pytest.fixture(scope="module")
def _service() -> Iterator[Service]:
    # The default number of workers, and the process of streams.
    with a_service(WORKERS="", STREAMS="1") as service:
        service.start()
        yield service


@pytest.fixture
def service(_service: Service) -> Service:
    """One service for the file; after a test that stops it, the next test starts it."""
    if _service.process is None or _service.process.poll() is not None:
        _service.start()
    return _service


def status(url: str) -> int:
    """The HTTP status, or 0 without a response."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def manage(service: Service, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=service.environment, capture_output=True, text=True, check=False)


def test_two_workers_serve_and_the_banner_lists_the_pages(service: Service) -> None:
    assert status(f"{service.base_url}/api/schema/") == 200
    assert len(service.workers()) == 2
    for path in ("/", "/account/", "/api/docs/", "/admin/"):
        assert f"{service.base_url}{path} " in service.said()
    counted = "SELECT finished_at IS NOT NULL, interval_minutes FROM desk_rollup"
    with psycopg.connect(service.cluster.url, autocommit=True) as connection:
        assert eventually(lambda: connection.execute(counted).fetchall() == [(True, 60)])


@pytest.mark.journey
def test_ctrl_c_stops_every_process_and_the_next_run_has_the_data(service: Service) -> None:
    with psycopg.connect(service.cluster.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE stored AS SELECT 42 AS answer")
    secrets = (service.data / "secrets.json").read_bytes()
    processes = [psutil.Process(service.process.pid), *service.workers()]  # type: ignore[union-attr]

    assert service.interrupt() == 0
    assert "Killing worker" not in service.said()
    assert not service.cluster.is_running()
    assert eventually(lambda: not any(map(runs, processes)))
    assert "Traceback" not in service.said()

    service.start()
    with psycopg.connect(service.cluster.url) as connection:
        assert connection.execute("SELECT answer FROM stored").fetchone() == (42,)
    assert (service.data / "secrets.json").read_bytes() == secrets


def test_a_killed_worker_is_replaced(service: Service) -> None:
    killed = service.workers()[0]
    killed.kill()
    assert eventually(lambda: len(set(service.workers()) - {killed}) == 2)
    assert eventually(lambda: status(f"{service.base_url}/api/schema/") == 200)


def test_a_restart_of_postgresql_fails_no_request(service: Service) -> None:
    # A page without posts: its empty list is queried each time. Twenty requests use every persistent connection.
    lists = [f"{service.base_url}/api/messages?pageId=p1_{'a' * 32}"] * 20
    assert {status(page) for page in lists} == {200}
    service.cluster.stop()
    service.cluster.start()
    assert {status(page) for page in lists} == {200}


def test_manage_py_works_while_the_service_runs(service: Service) -> None:
    assert "[X] 0001_initial" in manage(service, "showmigrations", "auth").stdout


def test_a_start_that_cannot_run_is_refused_with_advice(service: Service) -> None:
    port, data = service.port, str(service.data)
    taken = f"port {port} cannot be used"
    refusals: dict[str, tuple[dict[str, str], list[str]]] = {
        "the data of another run": ({"DATA_DIR": data}, ["another `make run`", f"uses {data}"]),
        "a busy port": ({"PORT": str(port)}, [taken, "choose another: PORT="]),
        "a busy port of streams": (
            {"STREAMS": "1", "STREAM_PORT": str(port)},
            [taken, "choose another: STREAM_PORT="],
        ),
        "a folder that is none": (
            {"DATA_DIR": "/dev/null/data"},
            ["/dev/null/data cannot be written (Not a directory)"],
        ),
    }
    for name, (environment, said) in refusals.items():
        with a_service(**environment) as second:
            assert second.launch().wait(PATIENCE_SECONDS) == 1, name
            assert [part for part in said if part not in second.said()] == [], name


def test_manage_py_refuses_in_one_sentence(tmp_path: Path) -> None:
    with a_service() as service:
        result = manage(service, "showmigrations")
        assert result.returncode == 1
        assert "PostgreSQL does not answer" in result.stderr
        assert "make run" in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
        # In production, a secret must be given.
        service.environment |= {"SECRET_KEY": "", "DATA_DIR": str(tmp_path)}
        result = manage(service, "check")
        assert result.returncode == 1
        assert result.stderr.startswith("manage.py: Set SECRET_KEY to ")


# The stops come last, because each start after one takes seconds.


def test_ctrl_c_while_a_worker_or_the_service_starts_is_a_stop_like_any_other(service: Service) -> None:
    """Only a worker that has started has left the process group of the terminal."""
    assert service.process
    service.workers()[0].kill()
    assert eventually(lambda: any(is_in_group(worker, service.process.pid) for worker in service.workers()))
    assert service.interrupt() == 0
    assert "Traceback" not in service.said()

    starting = service.launch()
    assert eventually(service.cluster.is_running)
    os.killpg(starting.pid, signal.SIGINT)
    assert starting.wait(PATIENCE_SECONDS) == 130
    assert not service.cluster.is_running()
    assert "runs at" not in service.said()


def is_in_group(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group
    except ProcessLookupError:
        return False


def test_a_killed_main_process_leaves_no_other_one_and_the_next_run_starts(service: Service) -> None:
    others = [*service.workers(), *stream_processes(service)]
    assert len(others) == 3
    # A worker waits for half-sent requests, and for clients that do not read their responses.
    with slow.sockets(service.port, count=12):
        time.sleep(0.5)
        service.process.kill()  # type: ignore[union-attr]
        service.process.wait()  # type: ignore[union-attr]
        assert eventually(lambda: not any(map(runs, others)))
    assert service.cluster.is_running()
    service.start()
    assert status(f"{service.base_url}/api/schema/") == 200
    # SIGTERM.
    assert service.stop() == 0
    assert not service.cluster.is_running()
