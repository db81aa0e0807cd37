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
from tests.service import ROOT, Service, a_service, running_service, runs
from tests.streams.faults import stream_processes
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]


@pytest.fixture(scope="module")
def _service() -> Iterator[Service]:
    # The default number of workers.
    with a_service(WORKERS="") as service:
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
    for path in ("/", "/demo/", "/api/docs/", "/admin/"):
        assert f"{service.base_url}{path} " in service.said()


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


def test_sigterm_stops_every_process(service: Service) -> None:
    assert service.stop() == 0
    assert not service.cluster.is_running()


def test_ctrl_c_during_the_start_stops_every_process(service: Service) -> None:
    service.stop()
    starting = service.launch()
    assert eventually(service.cluster.is_running)
    os.killpg(starting.pid, signal.SIGINT)
    assert starting.wait(PATIENCE_SECONDS) == 130
    assert not service.cluster.is_running()
    assert "runs at" not in service.said()


def test_a_killed_worker_is_replaced(service: Service) -> None:
    killed = service.workers()[0]
    killed.kill()
    assert eventually(lambda: len(set(service.workers()) - {killed}) == 2)
    assert eventually(lambda: status(f"{service.base_url}/api/schema/") == 200)


def test_ctrl_c_while_a_worker_starts_is_a_stop_like_any_other(service: Service) -> None:
    """Only a worker that has started has left the process group of the terminal."""
    assert service.process
    service.workers()[0].kill()
    assert eventually(lambda: any(is_in_group(worker, service.process.pid) for worker in service.workers()))

    assert service.interrupt() == 0
    assert "Traceback" not in service.said()


def is_in_group(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group
    except ProcessLookupError:
        return False


def test_a_killed_main_process_leaves_no_worker_and_the_next_run_starts(service: Service) -> None:
    workers = service.workers()
    # A worker waits for half-sent requests, and for clients that do not read their responses.
    with slow.sockets(service.port, count=12):
        time.sleep(0.5)
        service.process.kill()  # type: ignore[union-attr]
        service.process.wait()  # type: ignore[union-attr]
        assert eventually(lambda: not any(map(runs, workers)))
    assert service.cluster.is_running()
    service.start()
    assert status(f"{service.base_url}/api/schema/") == 200
    assert service.stop() == 0
    assert not service.cluster.is_running()


def test_a_restart_of_postgresql_fails_no_request(service: Service) -> None:
    # A page without posts: its empty list is queried each time. Twenty requests use every persistent connection.
    lists = [f"{service.base_url}/api/messages?pageId=p1_{'a' * 32}"] * 20
    assert {status(page) for page in lists} == {200}
    service.cluster.stop()
    service.cluster.start()
    assert {status(page) for page in lists} == {200}


def test_a_second_run_on_the_same_data_is_refused(service: Service) -> None:
    with a_service(DATA_DIR=str(service.data)) as second:
        assert second.launch().wait(PATIENCE_SECONDS) == 1
        assert "another `make run`" in second.said()
        assert f"uses {service.data}" in second.said()


def test_a_relative_data_folder_is_one_of_the_folder_of_the_start() -> None:
    """As `community-messaging serve` of the wheel, which is started anywhere."""
    with a_service() as service:
        service.copy_template()
        service.working_folder = service.data.parent
        service.environment |= {"DATA_DIR": service.data.name, "PYTHONPATH": str(ROOT)}
        service.start()
        assert status(f"{service.base_url}/readyz") == 200
        assert service.stop() == 0
        assert not (ROOT / service.data.name).exists()


def test_a_busy_port_is_refused_with_advice(service: Service) -> None:
    with a_service(PORT=str(service.port)) as second:
        assert second.launch().wait(PATIENCE_SECONDS) == 1
        assert f"port {service.port} cannot be used" in second.said()
        assert f"PORT={service.port + 1} make run" in second.said()


def test_a_read_only_data_folder_is_refused_with_advice() -> None:
    with a_service(DATA_DIR="/dev/null/data") as service:
        assert service.launch().wait(PATIENCE_SECONDS) == 1
        assert "/dev/null/data cannot be written (Not a directory)" in service.said()


def test_a_busy_port_of_streams_is_refused_with_advice(service: Service) -> None:
    with a_service(STREAMS="1", STREAM_PORT=str(service.port)) as second:
        assert second.launch().wait(PATIENCE_SECONDS) == 1
        assert f"port {service.port} cannot be used" in second.said()
        assert f"STREAM_PORT={service.port + 1} make run" in second.said()


def test_a_killed_main_process_leaves_no_stream_process() -> None:
    with running_service(STREAMS="1") as service:
        (streams,) = stream_processes(service)
        service.process.kill()  # type: ignore[union-attr]
        service.process.wait()  # type: ignore[union-attr]
        assert eventually(lambda: not runs(streams))


def test_manage_py_works_while_the_service_runs(service: Service) -> None:
    assert "[X] 0001_initial" in manage(service, "showmigrations", "auth").stdout


def test_manage_py_reports_an_unavailable_database_in_one_sentence() -> None:
    with a_service() as service:
        result = manage(service, "showmigrations")
        assert result.returncode == 1
        assert "PostgreSQL does not answer" in result.stderr
        assert "make run" in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


def test_production_refuses_to_start_without_a_secret(tmp_path: Path) -> None:
    with a_service() as service:
        service.environment |= {"SECRET_KEY": "", "DATA_DIR": str(tmp_path)}
        result = manage(service, "check")
        assert result.returncode == 1
        assert result.stderr.startswith("manage.py: Set SECRET_KEY to ")
