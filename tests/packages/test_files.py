"""The image, both compose.yaml and the units fit the service."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from configparser import ConfigParser
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from runtime import granian, run
from tests.documents.test_facts import settings_that_are_read
from tests.fresh_settings import fresh_settings
from tests.service import ROOT

UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))
CLUSTER = ROOT / "deploy/cluster"
SCRIPTS = sorted(CLUSTER.glob("*.sh"))
# A file of compose, its services that run the image, and the example of its variables.
COMPOSED = pytest.mark.parametrize(
    ("file", "hosts", "example"),
    [
        (ROOT / "compose.yaml", ["service"], ROOT / "deploy/example.env"),
        (CLUSTER / "compose.yaml", ["one", "two"], CLUSTER / "example.env"),
    ],
    ids=["one machine", "cluster"],
)
COMMANDS = {"serve", "streams", "manage worker"}


def compose(file: Path = CLUSTER / "compose.yaml") -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load(file.read_text())
    return parsed


def dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text()


def unit(path: Path) -> ConfigParser:
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path)
    return parser


@COMPOSED
def test_the_hosts_of_compose_have_only_settings_that_exist_and_all_secrets(
    file: Path, hosts: list[str], example: Path
) -> None:
    for name in hosts:
        service = compose(file)["services"][name]
        assert (file.parent / service["build"] / "Dockerfile").is_file()
        # Those of a pooler are read under their own names.
        assert set(service["environment"]) <= settings_that_are_read()
        assert {"SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER", "DATABASE_URL"} <= set(service["environment"])
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert int(service["stop_grace_period"].rstrip("s")) > run.DRAIN_SECONDS + granian.STOP_SECONDS


@COMPOSED
def test_every_variable_of_compose_is_in_the_example(file: Path, hosts: list[str], example: Path) -> None:
    used, text = file.read_text(), example.read_text()
    assert set(re.findall(r"\$\{(\w+)", used)) == set(re.findall(r"^(\w+)=", text, re.MULTILINE))
    # Without these, compose refuses to start.
    required = set(re.findall(r"\$\{(\w+):\?\}", used))
    assert set(re.findall(r"^(\w+)=$", text, re.MULTILINE)) == required
    assert {"SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER", "DATABASE_PASSWORD"} <= required


@COMPOSED
def test_files_that_compose_mounts_exist(file: Path, hosts: list[str], example: Path) -> None:
    for service in compose(file)["services"].values():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in compose(file)["volumes"] or (file.parent / source).is_file()


@pytest.mark.processes
@pytest.mark.skipif(shutil.which("caddy") is None, reason="no caddy on PATH")
@pytest.mark.parametrize("inside", [True, False])
def test_caddy_serves_the_domain_from_the_container_of_the_service(inside: bool, tmp_path: Path) -> None:
    """Outside of containers, where the variables are not set, it serves the example from this machine."""
    containers = compose(ROOT / "compose.yaml")
    given = containers["services"]["caddy"]["environment"] | {"DOMAIN": "site.example"} if inside else {}
    host, domain = ("service", "site.example") if inside else ("127.0.0.1", "community.example.com")
    adapted = subprocess.run(
        ["caddy", "adapt", "--config", ROOT / "deploy/Caddyfile"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)} | given,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert set(re.findall(r'"dial":"(.*?)"', adapted)) == {f"{host}:8000", f"{host}:8001"}
    assert set(re.findall(r'"host":\["(.*?)"\]', adapted)) == {domain}
    network = containers["networks"]["default"]["ipam"]["config"][0]["subnet"]
    assert containers["services"]["service"]["environment"]["TRUSTED_PROXIES"] == network


def test_the_image_runs_as_an_ordinary_user_from_a_named_base_with_locked_packages() -> None:
    text = dockerfile()
    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"${BASE}"}
    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)
    assert "--require-hashes" in text
    assert re.search(r'^HEALTHCHECK .*CMD \["community-messaging", "ready"\]$', text, re.MULTILINE)
    named = set(re.findall(r"\b([A-Z][A-Z_]+)=", text.partition("\nENV ")[2].partition("\n#")[0]))
    assert named - {"PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"} <= settings_that_are_read()


def test_hosts_have_addresses_that_no_other_part_gets() -> None:
    """nginx looks names up once, when it starts."""
    network = compose()["networks"]["default"]["ipam"]["config"][0]
    hosts = [ip_address(compose()["services"][name]["networks"]["default"]["ipv4_address"]) for name in ("one", "two")]
    assert len(set(hosts)) == 2
    assert all(host in ip_network(network["subnet"]) for host in hosts)
    assert not any(host in ip_network(network["ip_range"]) for host in hosts)


def test_the_server_that_creates_the_database_waits_for_no_standby() -> None:
    """It gets the options of the command, and no standby reaches it."""
    assert "synchronous" not in compose()["services"]["primary"]["command"]
    assert "synchronous_standby_names" in (CLUSTER / "primary.sh").read_text()


@pytest.mark.processes
def test_scripts_are_executable_and_can_be_parsed() -> None:
    """The image of nginx ignores others, and that of PostgreSQL reads them into its own shell."""
    assert {"nginx.sh", "primary.sh"} <= {script.name for script in SCRIPTS}
    for script in SCRIPTS:
        assert script.name not in ("nginx.sh", "primary.sh") or os.access(script, os.X_OK)
        shell = script.read_text().splitlines()[0].removeprefix("#!")
        subprocess.run([shell, "-n", script], check=True)


def test_the_role_of_compose_has_the_documented_settings() -> None:
    documented = re.findall(r"^ALTER ROLE .*;$", (ROOT / "docs/cluster.md").read_text(), re.MULTILINE)
    assert re.findall(r"^ALTER ROLE .*;$", (CLUSTER / "primary.sh").read_text(), re.MULTILINE) == documented


@pytest.mark.processes
def test_the_proxy_of_compose_passes_requests_and_streams_to_both_hosts() -> None:
    changes = re.findall(r"-e '(.*?)'", (CLUSTER / "nginx.sh").read_text())
    options = [option for change in changes for option in ("-e", change)]
    text = subprocess.run(
        ["sed", *options, ROOT / "deploy/nginx.conf"], capture_output=True, text=True, check=True
    ).stdout
    uses = [(port, options) for port in (8000, 8001) for options in ("fail_timeout=1s", "backup max_fails=0")]
    servers = [f"{host}:{port} {options}" for port, options in uses for host in ("one", "two")]
    assert re.findall(r"\bserver ([^;{]+);", text) == servers


def test_units_start_a_command_without_rights() -> None:
    assert UNITS
    for path in UNITS:
        service = unit(path)["Service"]
        if "User" in service:
            assert service["User"] == "barman"
            assert {service["ExecStart"].partition(" ")[0], service.get("ExecStartPost", "").partition(" ")[0]} <= {
                "/usr/bin/barman",
                "/opt/community-messaging/bin/community-messaging",
                "",
            }
        else:
            assert service["ExecStart"].partition("/bin/community-messaging ")[2] in COMMANDS
            assert service["DynamicUser"] == "yes"
        assert service["NoNewPrivileges"] == "yes"
        assert service["ProtectSystem"] == "strict"
        assert service["CapabilityBoundingSet"] == ""
        assert path.name in path.read_text().partition("\n\n")[0]


@pytest.mark.processes
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze on PATH")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for path in UNITS:
        # The program is not installed here.
        text = re.sub(r"^(ExecStart(?:Post)?=)\S+", r"\1/bin/true", path.read_text(), flags=re.MULTILINE)
        copy = tmp_path / path.name
        copy.write_text(re.sub(r"^WorkingDirectory=.*$", "", text, flags=re.MULTILINE))
        verified = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False
        )
        assert verified.returncode == 0, verified.stderr
        assert path.name not in verified.stderr


# The units of deploy/systemd with the settings that their comments name.


TEXT = (ROOT / "deploy/systemd/community-messaging-streams.service").read_text()
# The lines of the comment for the file of settings, which the service reads, too.
NAMED = dict(re.findall(r"^#   ([A-Z_]+)=(\S+)$", TEXT, re.MULTILINE))


def of_the_unit() -> dict[str, str]:
    """As systemd makes it: the file overrides the unit, and `env` both."""
    own = [word for line in re.findall(r"^Environment=(.*)$", TEXT, re.MULTILINE) for word in shlex.split(line)]
    command = re.findall(r"^ExecStart=(.*)$", TEXT, re.MULTILINE)[0].split()
    last = [word for word in command if re.fullmatch(r"[A-Z_]+=\S+", word)]
    return dict(word.split("=", 1) for word in own) | NAMED | dict(word.split("=", 1) for word in last)


def test_the_unit_of_the_streams_serves_them_and_the_workers_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NAMED["STREAMS"] == "0"
    with monkeypatch.context() as patch:
        assert fresh_settings(patch, of_the_unit())["STREAM_URL"] is not None
    workers = fresh_settings(monkeypatch, NAMED)
    assert not workers["STREAMS"]
    assert workers["STREAM_URL"] == NAMED["STREAM_URL"]


def test_a_service_without_streams_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fresh_settings(monkeypatch, {"STREAMS": "0"})["STREAM_URL"] is None
