"""deploy/monitoring: Prometheus runs with its configuration, and evaluates rules and all panels of the dashboard."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml

from kernel.metrics import exposition
from tests.operations.test_deploy import ALERTS, dashboard
from tests.service import ROOT, free_port
from tests.waiting import eventually

FOLDER = ROOT / "deploy" / "monitoring"
PROBE = b"probe_success 0\nprobe_ssl_earliest_cert_expiry 1\n"
VARIABLES = {"$instance": ".*", "$__rate_interval": "1m"}


def services() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]
    return parsed


def test_the_containers_have_files_that_exist_names_that_are_theirs_and_ports_of_this_machine_alone() -> None:
    mounted = [volume.split(":")[0] for service in services().values() for volume in service.get("volumes", [])]
    assert all((FOLDER / path).exists() for path in mounted if path.startswith("."))
    used = "".join(path.read_text() for path in FOLDER.rglob("*.yml"))
    assert set(re.findall(r"\b(\w+):(?:9090|9093|9115)", used)) <= services().keys()
    assert all("127.0.0.1:" in port for service in services().values() for port in service.get("ports", []))
    receivers = yaml.safe_load((FOLDER / "alertmanager.yml").read_text())
    assert receivers["route"]["receiver"] in {receiver["name"] for receiver in receivers["receivers"]}


def test_grafana_is_provisioned_with_the_dashboard_and_the_kind_of_data_source_that_it_asks_for() -> None:
    mounts = dict(reversed(volume.removesuffix(":ro").split(":")) for volume in services()["grafana"]["volumes"])
    provisioning = "/etc/grafana/provisioning"
    (provider,) = yaml.safe_load((FOLDER / mounts[f"{provisioning}/dashboards/service.yml"]).read_text())["providers"]
    folder = FOLDER / mounts[provider["options"]["path"]]
    home = services()["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert [provider["options"]["path"] + "/" + file.name for file in folder.iterdir()] == [home]
    (source,) = yaml.safe_load((FOLDER / mounts[f"{provisioning}/datasources/service.yml"]).read_text())["datasources"]
    asked, *_ = dashboard()["templating"]["list"]
    assert (asked["type"], asked["query"]) == ("datasource", source["type"])
    assert {panel["datasource"]["uid"] for panel in dashboard()["panels"]} == {f"${{{asked['name']}}}"}


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="no prometheus on PATH")
def test_prometheus_reads_the_service_probes_from_outside_and_sends_alerts(tmp_path: Path) -> None:
    with stand_ins() as (address, sent), prometheus(tmp_path, address) as ask:
        assert eventually(lambda: len(ask("query", query="up == 1")["result"]) == 2)
        (probed,) = ask("query", query="probe_success")["result"]
        assert probed["metric"]["instance"] == "https://community.example.com/readyz"
        for panel in dashboard()["panels"]:
            for target in panel["targets"]:
                expression = target["expr"]
                for name, value in VARIABLES.items():
                    expression = expression.replace(name, value)
                ask("query", query=expression)
        rules = [rule for group in ask("rules")["groups"] for rule in group["rules"]]
        assert {rule["lastError"] for rule in rules if "lastError" in rule} == set()
        assert eventually(lambda: "CertificateEnds" in {alert["labels"]["alertname"] for alert in sent})


@pytest.mark.processes
@pytest.mark.skipif(shutil.which("amtool") is None, reason="no amtool on PATH")
def test_amtool_accepts_the_configuration() -> None:
    command = ["amtool", "check-config", FOLDER / "alertmanager.yml"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.processes
@pytest.mark.parametrize(("ready", "mails"), [(True, []), (False, ["not ready"])])
def test_the_documented_check_from_outside_sends_a_mail_only_if_the_service_is_not_ready(
    tmp_path: Path, ready: bool, mails: list[str]
) -> None:
    (line,) = re.findall(r"^\*/5 \* \* \* \* (curl .*)$", (ROOT / "docs" / "operations.md").read_text(), re.M)
    (tmp_path / "mail").write_text(f"#!/bin/sh\ncat >> {tmp_path}/mails\n")
    (tmp_path / "mail").chmod(0o700)
    with stand_ins() as (address, _sent):
        command = line.replace("https://community.example.com/readyz", f"http://{address}/{'' if ready else 'away'}")
        subprocess.run(["/bin/sh", "-c", f"PATH={tmp_path}:$PATH; {command}"], check=False, capture_output=True)
    found = (tmp_path / "mails").read_text().splitlines() if (tmp_path / "mails").exists() else []
    assert found == mails


@contextmanager
def stand_ins() -> Iterator[tuple[str, list[Any]]]:
    """The metrics of the service, a prober, and an Alertmanager that stores alerts, at one address."""
    sent: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/away":
                self.send_error(503)
                return
            self.respond(PROBE if self.path.startswith("/probe") else exposition.text())

        def do_POST(self) -> None:
            sent.extend(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.respond(b"")

        def respond(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}", sent
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def prometheus(home: Path, address: str) -> Iterator[Any]:
    """Prometheus with our configuration, whose targets are all at `address`. Yields a function that asks its API."""
    text = re.sub(
        r"(host\.docker\.internal|alertmanager|blackbox):\d+", address, (FOLDER / "prometheus.yml").read_text()
    )
    (home / "prometheus.yml").write_text(re.sub(r"(_interval): \w+", r"\1: 1s", text))
    (home / "alerts.yml").write_text(re.sub(r"interval: \w+", "interval: 1s", ALERTS.read_text()))
    port = free_port()
    options = (f"--config.file={home}/prometheus.yml", f"--storage.tsdb.path={home}/data")
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            ["prometheus", *options, f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log
        )

    def ask(path: str, **query: str) -> Any:
        with urlopen(f"http://127.0.0.1:{port}/api/v1/{path}?{urlencode(query)}") as response:
            return json.load(response)["data"]

    def is_ready() -> bool:
        assert process.poll() is None, (home / "log").read_text()
        try:
            ask("query", query="1")
        except OSError:
            return False
        return True

    try:
        assert eventually(is_ready)
        yield ask
    finally:
        process.terminate()
        process.wait()
