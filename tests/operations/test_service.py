"""A running service: its metrics over several processes, and draining."""

from __future__ import annotations

import json
import time
from http.client import HTTPConnection
from typing import Any

import pytest

from kernel.metrics import definitions
from kernel.probes import readiness
from tests.clients import Clients, bearer
from tests.remote import Remote
from tests.service import Service, a_service, free_port, running_service
from tests.streams.client import following
from tests.waiting import PATIENCE_SECONDS, eventually

SMART_TAGS = "/v1/smart-tags"
DRAIN_SECONDS = 2
LOG_READ = "change_log_read_timestamp_seconds"


def get(port: int, path: str) -> tuple[int, str]:
    client = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    # The Host of a balancer's health check.
    client.request("GET", path, headers={"Host": "10.0.0.7"} if path in ("/readyz", "/healthz") else {})
    answer = client.getresponse()
    status, text = answer.status, answer.read().decode()
    client.close()
    return status, text


def counted(port: int, sample: str) -> float:
    lines = get(port, "/metrics")[1].splitlines()
    prefix = f"{definitions.NAMESPACE}_{sample} "
    return next((float(line.removeprefix(prefix)) for line in lines if line.startswith(prefix)), 0.0)


def served(port: int) -> float:
    return counted(port, 'requests_total{operation="listSmartTags",status="200"}')


@pytest.mark.slow
@pytest.mark.processes
def test_metrics_are_those_of_all_processes_and_a_host_drains_before_it_stops() -> None:
    metrics_port = free_port()
    with running_service(
        WORKERS="2",
        STREAMS="1",
        METRICS_PORT=str(metrics_port),
        METRICS_ALLOWED="127.0.0.1",
        DRAIN_SECONDS="600",
    ) as service:
        assert eventually(lambda: get(service.port, "/readyz")[0] == 200), get(service.port, "/readyz")
        assert get(service.stream_port, "/healthz") == (200, '{"healthy":true}')
        assert get(service.stream_port, "/readyz")[0] == 200
        for _ in range(40):
            get(service.port, SMART_TAGS)
        assert eventually(lambda: served(metrics_port) == 40)
        assert eventually(lambda: served(service.port) == 40)
        kill_a_worker(service)
        assert eventually(lambda: counted(metrics_port, 'process_restarts_total{process="web"}') == 1)
        assert served(metrics_port) == 40
        assert eventually(lambda: counted(metrics_port, 'ready{part="database"}') == 1)
        assert counted(metrics_port, 'ready{part="streams"}') == 1
        with following(service.stream_port):
            assert eventually(lambda: counted(metrics_port, "streams_open") == 1)
        assert eventually(lambda: counted(metrics_port, "streams_open") == 0)
        assert counted(metrics_port, "response_cache_bytes") > 0
        assert counted(metrics_port, "database_connections") > 0

        read_at = counted(metrics_port, LOG_READ)
        assert eventually(lambda: counted(metrics_port, LOG_READ) > read_at)
        service.cluster.stop("immediate")
        stopped_at = time.time()
        # No probe is asked meanwhile.
        assert eventually(lambda: counted(metrics_port, 'ready{part="database"}') == 0)
        assert counted(metrics_port, LOG_READ) <= stopped_at
        service.cluster.start()
        assert eventually(lambda: counted(metrics_port, LOG_READ) > stopped_at)
        assert eventually(lambda: counted(metrics_port, 'ready{part="database"}') == 1)

        assert service.process
        service.process.terminate()
        assert eventually(lambda: get(service.port, "/readyz")[0] == 503)
        assert json.loads(get(service.port, "/readyz")[1])["draining"] is True
        assert get(service.port, SMART_TAGS)[0] == 200
        assert get(service.stream_port, "/healthz")[0] == 200
        # The second signal ends the draining.
        service.process.terminate()
        assert service.process.wait(PATIENCE_SECONDS) == 0, service.said()


@pytest.mark.slow
@pytest.mark.processes
def test_lines_of_json_have_the_id_of_their_request_and_no_credential_and_a_stop_drains_first() -> None:
    environment = {"LOG_FORMAT": "json", "ACCESS_LOG": "1", "TRUSTED_PROXIES": "127.0.0.1"}
    with running_service(DRAIN_SECONDS=str(DRAIN_SECONDS), **environment) as service:
        clients = Clients(service)
        person = clients.person()
        agent = clients.agent_token(person)
        credentials = [agent, *(bearer_of(headers) for headers in (person.user, person.signed_in))]
        for number, credential in enumerate(credentials):
            # In the path and in the query, where clients should not send them.
            path = f"/v1/nowhere/{credential}?token={credential}"
            sent = bearer(credential) | {"X-Request-ID": f"lost.{number}"}
            assert Remote(service.port).call("GET", path, **sent).status == 404
        body = {"pageId": clients.page_id("https://logged.example/"), "content": f"My token is {agent}"}
        service.cluster.stop("immediate")
        written = Remote(service.port).call(
            "POST", "/api/messages", body, key="a-key", **bearer(agent), **{"X-Request-ID": "down"}
        )
        assert written.status == 503
        service.cluster.start()
        kill_a_worker(service, of=1)
        begun = time.monotonic()
        # It drains before it stops.
        assert service.stop() == 0
        assert time.monotonic() - begun >= DRAIN_SECONDS
        lines = json_lines(service)
    for number in range(len(credentials)):
        (line,) = [line for line in lines if line["requestId"] == f"lost.{number}"]
        assert (line["method"], line["status"], line["operation"]) == ("GET", 404, "other")
    failed = [line for line in lines if line["requestId"] == "down"]
    assert {"kernel.api.exception_handler", "django.request", "kernel.metrics.wsgi"} == {
        line["logger"] for line in failed
    }
    assert any(line["operation"] == "createMessage" and line["status"] == 503 for line in failed if "status" in line)
    # The main process has said that its worker ended.
    assert any(line["level"] == "ERROR" and line["requestId"] == "-" for line in lines)
    text = json.dumps(lines)
    assert "[hidden]" in text
    assert not [secret for credential in credentials for secret in secrets_of(credential) if secret in text]


def bearer_of(headers: dict[str, str]) -> str:
    return headers["Authorization"].removeprefix("Bearer ")


def secrets_of(credential: str) -> list[str]:
    """The parts of a JSON web token, or all of another one but its public prefix."""
    return credential.split(".") if "." in credential else [credential[12:]]


def json_lines(service: Service) -> list[dict[str, Any]]:
    """What the service has logged: all lines after those of the banner, which has none of the log."""
    lines = service.said().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("{"))
    return [json.loads(line) for line in lines[first:] if line]


def kill_a_worker(service: Service, of: int = 2) -> None:
    """Returns when there are `of` workers again."""
    worker = service.workers()[0]
    worker.kill()
    assert eventually(lambda: len(set(service.workers()) - {worker}) >= of)


@pytest.mark.slow
@pytest.mark.processes
def test_a_start_ends_the_draining_that_a_killed_process_has_left_and_refuses_a_port_twice() -> None:
    with a_service() as service:
        service.data.mkdir(parents=True)
        readiness.begin(service.data)
        service.environment["METRICS_PORT"] = str(service.port)
        assert service.launch().wait(PATIENCE_SECONDS) == 1
        assert f"PORT and METRICS_PORT are both {service.port}" in service.said()
        assert not readiness.has_drain_mark(service.data)


@pytest.mark.parametrize(("base_url", "given", "seconds"), [("", "", 0), ("https://x.example", "", 5), ("", "7", 7)])
def test_a_host_drains_where_a_balancer_is_likely(
    monkeypatch: pytest.MonkeyPatch, base_url: str, given: str, seconds: int
) -> None:
    from runtime.run import drain_seconds

    monkeypatch.setenv("BASE_URL", base_url)
    monkeypatch.setenv("DRAIN_SECONDS", given)
    assert drain_seconds() == seconds


def test_what_a_start_prints_without_the_demo_names_the_public_address_and_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from runtime.run import text

    monkeypatch.setenv("BASE_URL", "https://community.example")
    said = text([8000], None, ["no super admin: manage.py create_person"])
    for line in ("runs at http://127.0.0.1:8000 ", "public address is https://community.example", "no super admin"):
        assert line in said
    assert "/demo/" not in said
    assert "Missing" not in text([8000], None)
