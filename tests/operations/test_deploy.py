"""The files in deploy/ fit the service."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from kernel.metrics import definitions
from tests.service import ROOT
from tests.webhooks.receiver import make_authority

DEPLOY = ROOT / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
CASES = ROOT / "tests" / "operations" / "alerts_test.yml"
NAME = re.compile(rf"\b{definitions.NAMESPACE}_\w+")
SELECTED = re.compile(rf"({definitions.NAMESPACE}_\w+)\{{([^}}]*)\}}")


def labels_by_sample() -> dict[str, set[str]]:
    """The labels of each sample that the service may return."""
    found = {f"{definitions.NAMESPACE}_build_info": {"version", "python"}}
    for metric in vars(definitions).values():
        if not isinstance(metric, MetricWrapperBase):
            continue
        name, labels = metric._name, set(metric._labelnames)
        if isinstance(metric, Counter):
            found[f"{name}_total"] = labels
        elif isinstance(metric, Histogram):
            found |= {f"{name}_bucket": labels | {"le"}, f"{name}_sum": labels, f"{name}_count": labels}
        else:
            found[name] = labels
    return found


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
    return parsed


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    yield from (target["expr"] for panel in dashboard()["panels"] for target in panel["targets"])


def test_rules_and_dashboard_use_only_metrics_and_labels_that_exist() -> None:
    known = labels_by_sample()
    for expression in expressions():
        assert set(NAME.findall(expression)) <= set(known), expression
        for name, selector in SELECTED.findall(expression):
            used = set(re.findall(r"(\w+)\s*[=!]", selector)) - {"instance", "job"}
            assert used <= known[name], expression


def test_the_dashboard_shows_every_metric_in_panels_with_ids_and_places_of_their_own() -> None:
    shown = {name for expression in expressions() for name in NAME.findall(expression)}
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown}
    assert families == {re.sub(r"_(bucket|sum|count)$", "", name) for name in labels_by_sample()}
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(panels)


def test_every_alert_has_a_severity_and_says_what_is_wrong() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"].endswith(".")


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.skipif(shutil.which("promtool") is None, reason="no promtool on PATH")
def test_promtool_accepts_the_rules_and_they_fire_when_they_should() -> None:
    for command, file in (("check", ALERTS), ("test", CASES)):
        checked = subprocess.run(["promtool", command, "rules", file], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_each_rule_has_a_case_in_which_it_fires() -> None:
    assert set(re.findall(r'alertname="(\w+)", alertstate="firing"', CASES.read_text())) == {
        rule["alert"] for rule in rules()
    }


def test_the_unit_runs_the_service_and_leaves_it_time_to_stop() -> None:
    from runtime import granian, postgres, run

    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "systemd" / "community-messaging.service")
    service = unit["Service"]
    assert service["ExecStart"].endswith("/bin/community-messaging serve")
    # SIGTERM to each process would end the workers before the host has drained.
    assert service["KillMode"] == "mixed"
    longest = run.DRAIN_SECONDS + granian.STOP_SECONDS + postgres.STOP_SECONDS
    assert int(service["TimeoutStopSec"]) > longest


@pytest.mark.processes
@pytest.mark.skipif(shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") is None, reason="no nginx on PATH")
def test_nginx_accepts_its_file_as_the_page_on_going_live_changes_it(tmp_path: Path) -> None:
    text = (ROOT / "docs/go-live.md").read_text()
    (block,) = re.findall(r"```nginx\n(.*?)```", text, re.DOTALL)
    (command,) = re.findall(r"^sed -i -e 's\|listen 8080.*?nginx\.conf$", text, re.DOTALL | re.MULTILINE)
    file = tmp_path / "nginx.conf"
    file.write_text((DEPLOY / "nginx.conf").read_text().replace("    server {", f"{block}\n    server {{", 1))
    _authority, certificate = make_authority(tmp_path, host="community.example.com")
    live = tmp_path / "live/community.example.com"
    live.mkdir(parents=True)
    for name in ("fullchain", "privkey"):
        shutil.copy(certificate, live / f"{name}.pem")
    command = command.replace("/etc/letsencrypt", str(tmp_path)).replace("/etc/nginx/nginx.conf", str(file))
    subprocess.run(["sh", "-c", command.replace("YOUR_DOMAIN", live.name)], check=True)
    changed = file.read_text().replace("YOUR_DOMAIN", live.name)
    assert changed.count("\n        listen 443 ssl http2;") == 1
    # Ports that only root may open, and folders of the system, are not tried here.
    for old, new in (("listen 443", "listen 20443"), ("[::]:443", "[::1]:20443"), ("listen 80;", "listen 20080;")):
        changed = changed.replace(old, new)
    file.write_text(changed.replace("listen [::]:80;", ""))
    options = ["-t", "-e", str(tmp_path / "error.log"), "-g", f"pid {tmp_path}/nginx.pid;", "-c", str(file)]
    path = f"{os.environ['PATH']}:/usr/sbin"
    tested = subprocess.run(["nginx", *options], capture_output=True, text=True, check=False, env={"PATH": path})
    assert tested.returncode == 0, tested.stderr
