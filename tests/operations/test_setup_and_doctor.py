"""From an empty database to a service behind a real Caddy with TLS, by `setup`, which `doctor` examines."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runtime import environment_file
from runtime.data_folder import CannotRun
from tests.service import ROOT, Service, a_service, free_port
from tests.waiting import PATIENCE_SECONDS, eventually

CADDY = shutil.which("caddy")
PASSWORD = "four plain quiet words"


@pytest.mark.parametrize("value", ["a'b", 'a"b', "a\\b", "a\nb", " a"])
def test_a_value_that_systemd_would_read_otherwise_is_refused(tmp_path: Path, value: str) -> None:
    file = tmp_path / "service.env"
    environment_file.write(file, {"EMAIL_URL": "smtp://host#1=2", "NAME": "Some Name <a@b.example>"})
    with pytest.raises(CannotRun, match="EMAIL_URL has a quote"):
        environment_file.write(file, {"EMAIL_URL": value})
    assert environment_file.read(file) == {"EMAIL_URL": "smtp://host#1=2", "NAME": "Some Name <a@b.example>"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@dataclass
class Site:
    """A service, Caddy before it, and the file of settings."""

    service: Service
    home: Path
    secure_port: int = field(default_factory=free_port)
    plain_port: int = field(default_factory=free_port)

    @property
    def file(self) -> Path:
        return self.home / "service.env"

    @property
    def authority(self) -> Path:
        return self.home / "caddy/pki/authorities/local/root.crt"

    def run(self, module: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", f"runtime.{module}", "--env-file", str(self.file), *arguments]
        inherited = self.service.environment | environment
        return subprocess.run(
            command, cwd=ROOT, env=inherited, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )

    def set_up(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        password = self.home / "password"
        password.write_text(PASSWORD)
        address = ["--domain", "localhost", "--database", self.service.cluster.url, "--mail", ""]
        return self.run("setup", *address, "--password-file", str(password), *arguments)

    def bad(self, *arguments: str, **environment: str) -> set[str]:
        """The checks that find something wrong. The exit status says whether any does."""
        given = ["--address", f"127.0.0.1:{self.secure_port}", "--plain-port", str(self.plain_port), "--json"]
        done = self.run("doctor", *given, "--authorities", str(self.authority), *arguments, **environment)
        assert done.stdout, done.stderr
        findings = json.loads(done.stdout)["findings"]
        assert all(one["remedy"] for one in findings if one["kind"] != "good")
        bad = {one["check"] for one in findings if one["kind"] == "bad"}
        assert done.returncode == bool(bad), done.stdout
        return bad

    @contextmanager
    def caddy(self, **changes: str) -> Iterator[None]:
        options = f"http_port {self.plain_port}\nhttps_port {self.secure_port}\nskip_install_trust\nadmin off\n"
        replaced = {
            "{\n\tservers": f"{{\n{options}\tservers",
            "{$DOMAIN:community.example.com} {": "localhost {\n\ttls internal",
            "/var/log/caddy/community-messaging.log": str(self.home / "caddy.log"),
            "{$SERVICE_HOST:127.0.0.1}:8000": f"127.0.0.1:{self.service.port}",
            "{$SERVICE_HOST:127.0.0.1}:8001": f"127.0.0.1:{self.service.stream_port}",
        } | changes
        text = (ROOT / "deploy/Caddyfile").read_text()
        for old, new in replaced.items():
            assert old in text, old
            text = text.replace(old, new)
        file = self.home / "Caddyfile"
        file.write_text(text)
        environment = os.environ | {"XDG_DATA_HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home)}
        command = [str(CADDY), "run", "--adapter", "caddyfile", "--config", str(file)]
        with (self.home / "caddy.err").open("wb") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            assert eventually(self.is_trusted), (self.home / "caddy.err").read_text()
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_SECONDS)

    def is_trusted(self) -> bool:
        try:
            ssl.get_server_certificate(("localhost", self.secure_port), ca_certs=str(self.authority))
        except OSError:
            return False
        return True


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with a_service(STREAMS="1") as service:
        service.cluster.start()
        yield Site(service, service.data.parent)


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.skipif(CADDY is None, reason="no caddy on PATH")
def test_setup_and_the_proxy_serve_and_the_doctor_finds_nothing_wrong(site: Site) -> None:
    first = site.set_up("--admin", "first_admin")
    assert first.returncode == 0, first.stderr
    assert stat.S_IMODE(site.file.stat().st_mode) == 0o600
    stored = environment_file.read(site.file)
    assert PASSWORD not in first.stdout + site.file.read_text()
    assert "nothing changed" in site.set_up().stdout
    refused = site.run("setup", "--domain", "localhost/below", "--mail", "")
    assert (refused.returncode, "below a path" in refused.stderr) == (1, True)
    assert environment_file.read(site.file) == stored

    site.service.environment |= stored | {"DRAIN_SECONDS": "0"}
    site.service.start()
    for name in stored:
        del site.service.environment[name]
    with site.caddy():
        assert site.bad() == set()
        settings: dict[str, tuple[dict[str, str], set[str]]] = {
            "a database that is away": (
                {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"},
                {"secrets", "health", "admin", "clock"},
            ),
            "a domain without address": ({"BASE_URL": "https://nowhere.invalid"}, {"DNS", "TLS", "proxy", "streams"}),
            "a short secret": ({"ROOT_KEY": "short"}, {"settings"}),
        }
        for name, (environment, expected) in settings.items():
            assert expected <= site.bad(**environment), name
    faults = {
        "another port for streams": ({f"127.0.0.1:{site.service.stream_port}": "127.0.0.1:1"}, {"streams"}),
        "a forwarded http": ({"buffer_requests": "buffer_requests\n\t\t\theader_up X-Forwarded-Proto http"}, {"proxy"}),
        "another Host": ({"buffer_requests": "buffer_requests\n\t\t\theader_up Host other.example"}, {"proxy"}),
    }
    for name, (changes, expected) in faults.items():
        with site.caddy(**changes):
            assert expected <= site.bad(), name
    site.service.stop()
    assert {"service", "TLS", "http", "proxy", "streams"} <= site.bad()
