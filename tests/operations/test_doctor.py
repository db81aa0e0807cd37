"""Each fault that a check of the doctor names is made, one at a time, and found by that check alone."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from config import secrets
from config.version import VERSION
from desk import health
from desk.models import RollUp
from kernel import fingerprints
from kernel.cache.django_cache import caches
from kernel.database.sql import database_now
from kernel.probes.readiness import readiness
from mails.models import Collector
from messaging.models import Account
from runtime import doctor
from runtime.doctor import Doctor, Finding
from tests.factories import SuperAdminFactory
from tests.mails.server import running_mail_server
from tests.webhooks.receiver import make_authority

Answer = tuple[int, dict[str, str], bytes | None]
STREAM = "/v1/changes/stream"
NOWHERE = "redis://127.0.0.1:1/0"


class Host:
    """Answers on a port of 127.0.0.1. A body of None is never sent, as by a proxy that holds it back."""

    def __init__(self, answers: dict[str, Answer], certificate: Path | None = None) -> None:
        self.answers = answers
        self.ended = threading.Event()
        host = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                status, headers, body = host.answers[self.path]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(100 if body is None else len(body)))
                self.end_headers()
                if body is None:
                    host.ended.wait()
                else:
                    self.wfile.write(body)

            def log_message(self, *_arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.block_on_close = False
        self.server.handle_error = lambda *_arguments: None  # type: ignore[method-assign]  # clients close early
        self.plain = self.server.socket
        if certificate is not None:
            self.use(certificate)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def use(self, certificate: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        accept = self.plain.accept

        def accept_secure() -> Any:
            accepted, address = accept()
            return context.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False), address

        self.server.get_request = accept_secure  # type: ignore[method-assign]

    def stop(self) -> None:
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()


@dataclass
class World:
    """A service, its proxy and its mail server, all of them well."""

    folder: Path
    settings: Any
    monkeypatch: pytest.MonkeyPatch
    proxy: Host
    plain: Host
    service: Host
    authority: Path
    changes: dict[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.folder / "service.env"

    @property
    def report(self) -> Path:
        return self.folder / "report.json"

    def bad(self) -> list[tuple[str, Finding]]:
        readiness.cache_clear()
        given = {"address": ("127.0.0.1", self.proxy.port), "plain_port": self.plain.port}
        examined = Doctor(self.file, **{**given, "authorities": self.authority} | self.changes)
        found = list(doctor.examine(examined))
        assert all(finding.remedy for _name, finding in found if finding.kind != "good")
        return [(name, finding) for name, finding in found if finding.kind != "good"]


READY: Answer = (200, {}, b'{"ready": true, "missing": [], "draining": false}')
START: Answer = (200, {"Strict-Transport-Security": "max-age=1"}, b"{}")
STREAMS: Answer = (200, {"Content-Type": "text/event-stream"}, b": hello\n\n")


@pytest.fixture
def world(db: None, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with ExitStack() as running:

        def host(answers: dict[str, Answer], certificate: Path | None = None) -> Host:
            started = Host(answers, certificate)
            running.callback(started.stop)
            return started

        authority, certificate = make_authority(tmp_path, host="localhost")
        version = f'{{"version": "{VERSION}"}}'.encode()
        service = host({"/": (200, {}, version), "/readyz": READY})
        proxy = host({"/": START, STREAM: STREAMS}, certificate)
        plain = host({"/": (308, {"Location": "https://localhost/"}, b"")})
        running.enter_context(running_mail_server(settings))
        monkeypatch.setattr(doctor, "TIMEOUT_SECONDS", 2)
        # No timedatectl: a test of its own has one.
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("BASE_URL", "https://localhost")
        settings.HTTPS, settings.DEMO, settings.TRUSTED_PROXIES = True, False, ("127.0.0.1",)
        settings.PORT, settings.STREAM_PORT = service.port, host({"/readyz": READY}).port
        settings.MAIL_IS_SENT, settings.DEFAULT_FROM_EMAIL = True, "no-reply@community.example"
        monkeypatch.setattr(health, "FREE_BYTES", 0)
        monkeypatch.setattr(health, "FREE_PERCENT", 0)
        SuperAdminFactory()
        fingerprints.require_known_secrets()
        RollUp.objects.update_or_create(defaults={"finished_at": database_now(), "interval_minutes": 60})
        made = World(tmp_path, settings, monkeypatch, proxy, plain, service, authority)
        made.file.touch(0o600)
        monkeypatch.setenv("BACKUP_REPORT", str(made.report))
        _backups(made)
        yield made
    readiness.cache_clear()


def _housekeeping(*, hours: int) -> None:
    RollUp.objects.update(finished_at=database_now() - timedelta(hours=hours))


def _without_migration(_world: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'desk'")


def _certificate(world: World, *, days: float) -> None:
    world.authority, certificate = make_authority(world.folder, host="localhost", left=timedelta(days=days))
    world.proxy.use(certificate)


def _other_secret(_world: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE api_secretfingerprint SET fingerprint = '\\x00' WHERE name = 'ROOT_KEY'")


def _short_secret(world: World) -> None:
    def read(*_arguments: Any, **_options: Any) -> str:
        raise ImproperlyConfigured("ROOT_KEY is too short")

    # The settings do the same; this process has loaded them long ago.
    world.monkeypatch.setattr(secrets, "read", read)


def _full_disk(world: World) -> None:
    world.monkeypatch.setattr(health, "FREE_BYTES", shutil.disk_usage(django_settings.DATA_DIR).total * 2)


def _mail(world: World, **changes: Any) -> None:
    for name, value in changes.items():
        setattr(world.settings, name, value)


def _refused_mail(_world: World) -> None:
    failure = {"server_failure": "550 no such sender"}
    Collector.objects.update_or_create(defaults=failure | {"generation": 0, "xid": 0, "row_id": 0})


def _clock(world: World, *, seconds: int) -> None:
    import time

    world.monkeypatch.setattr(doctor, "time", SimpleNamespace(time=lambda: time.time() + seconds))


def _backups(world: World, *, hours: float = 1, days: float = 1, error: str = "", **changes: Any) -> None:
    """A report of a backup some hours old and of a restore drill some days old."""
    backup, drill = (datetime.now(UTC) - timedelta(hours=hours), datetime.now(UTC) - timedelta(days=days))
    report = {"backup": {"at": backup.isoformat()}, "drill": {"succeededAt": drill.isoformat(), "error": error}}
    world.report.write_text(json.dumps(report | {"problems": []} | changes))


def _redis(world: World) -> None:
    world.settings.REDIS_URL, world.settings.CACHES = NOWHERE, caches(NOWHERE)


def _answers(part: str, **answers: Answer) -> Callable[[World], None]:
    def change(world: World) -> None:
        getattr(world, part).answers |= {f"/{path}": answer for path, answer in answers.items()}

    return change


def _set(**changes: Any) -> Callable[[World], None]:
    return lambda world: _mail(world, **changes)


def _stream(status: int, kind: str, body: bytes | None) -> Callable[[World], None]:
    return lambda world: world.proxy.answers.update({STREAM: (status, {"Content-Type": kind}, body)})


# What breaks, the check that finds it, and some of its words.
FAULTS: dict[str, tuple[Callable[[World], Any], str, str]] = {
    "a file that others read": (lambda world: world.file.chmod(0o640), "file", "can be read by others"),
    "no file": (lambda world: world.file.unlink(), "file", "No such file"),
    "http": (_set(HTTPS=False), "settings", "not https"),
    "no trusted proxy": (_set(TRUSTED_PROXIES=()), "settings", "no proxy is trusted"),
    "a demo": (_set(DEMO=True), "settings", "the demo"),
    "open to all": (lambda world: world.monkeypatch.setenv("HOST", "0.0.0.0"), "settings", "more than this machine"),
    "another secret": (_other_secret, "secrets", "not those of this database: ROOT_KEY"),
    "a short secret": (_short_secret, "secrets", "too short"),
    "late housekeeping": (lambda _world: _housekeeping(hours=72), "health", "Housekeeping does not run"),
    "a missing migration": (_without_migration, "health", "Migrations of this release are missing"),
    "a full disk": (_full_disk, "health", "almost full"),
    "no Redis": (_redis, "health", "Redis does not answer"),
    "no stream process": (_set(STREAM_PORT=1), "health", "The stream process does not answer"),
    "mails refused": (_refused_mail, "health", "takes no mails. 550"),
    "no super admin": (lambda _world: Account.objects.update(is_superuser=False), "admin", "no super admin"),
    "a super admin who is suspended": (lambda _world: Account.objects.update(is_active=False), "admin", "no super"),
    "a stopped service": (_set(PORT=1), "service", "does not answer as this service"),
    "another program": (_answers("service", **{"": (200, {}, b"hello")}), "service", "does not answer as this service"),
    "a service that is not ready": (
        _answers("service", readyz=(503, {}, b'{"ready": false, "missing": ["database"], "draining": false}')),
        "service",
        "not ready: database",
    ),
    "a service that drains": (
        _answers("service", readyz=(503, {}, b'{"ready": false, "missing": [], "draining": true}')),
        "service",
        "it drains",
    ),
    "an earlier release": (_answers("service", **{"": (200, {}, b'{"version": "0.1"}')}), "service", "0.1 runs"),
    "a clock that is off": (lambda world: _clock(world, seconds=90), "clock", "differ by 90 s"),
    "an expired certificate": (lambda world: _certificate(world, days=-0.5), "TLS", "expired"),
    "a certificate that ends": (lambda world: _certificate(world, days=0.1), "TLS", "ends in 2 hours"),
    "no redirect": (_answers("plain", **{"": (200, {}, b"")}), "http", "does not lead to https"),
    "a redirect elsewhere": (
        _answers("plain", **{"": (308, {"Location": "https://other.example/"}, b"")}),
        "http",
        "does not lead to https",
    ),
    "a closed port 80": (lambda world: world.changes.update(plain_port=1), "http", "refused"),
    "a forwarded http": (
        _answers("proxy", **{"": (301, {"Location": "https://localhost/"}, b"")}),
        "proxy",
        "https leads to itself",
    ),
    "another Host": (_answers("proxy", **{"": (400, {}, b"")}), "proxy", "does not know the Host"),
    "a proxy of nothing": (_answers("proxy", **{"": (502, {}, b"")}), "proxy", "answers 502"),
    "lost headers": (_answers("proxy", **{"": (200, {}, b"")}), "proxy", "Strict-Transport-Security"),
    "streams elsewhere": (_stream(404, "application/json", b"{}"), "streams", "no stream through the proxy"),
    "a page in place of streams": (_stream(200, "text/html", b""), "streams", "no stream through the proxy"),
    "streams held back": (_stream(200, "text/event-stream", None), "streams", "holds streams back"),
    "no mail server": (_set(EMAIL_PORT=1), "mail", "refuses"),
    "a sender at localhost": (_set(DEFAULT_FROM_EMAIL="Name <a@localhost>"), "mail", "at localhost"),
    "no report of backups": (lambda world: world.monkeypatch.delenv("BACKUP_REPORT"), "backups", "is not known"),
    "a report that is not there": (lambda world: world.report.unlink(), "backups", "cannot be read"),
    "a report of another form": (lambda world: world.report.write_text("[1]"), "backups", "cannot be read"),
    "no backup": (lambda world: _backups(world, backup=None), "backups", "no good backup yet"),
    "an old backup": (lambda world: _backups(world, hours=30), "backups", "backup is 30 hours old"),
    "a log that does not arrive": (
        lambda world: _backups(world, problems=["WAL archive: empty"]),
        "backups",
        "barman: WAL archive: empty",
    ),
    "no restore drill": (lambda world: _backups(world, drill=None), "backups", "no good restore drill yet"),
    "an old restore drill": (lambda world: _backups(world, days=41), "backups", "restore drill is 41 days old"),
    "a restore drill that failed": (lambda world: _backups(world, error="no room"), "backups", "failed: no room"),
    "mails that are not sent": (_set(MAIL_IS_SENT=False), "mail", "no mails are sent"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_by_its_check_alone(world: World, name: str) -> None:
    fault, check, text = FAULTS[name]
    if name in ("streams held back", "an expired certificate"):
        # The first alone waits for the end of the time; TLS also fails for what is asked over it.
        world.monkeypatch.setattr(doctor, "TIMEOUT_SECONDS", 0.3)
    fault(world)
    found = world.bad()
    assert any(one == check and text in finding.text for one, finding in found), found
    others = {"proxy", "streams"} if "TLS" in check and "expired" in name else set()
    assert {one for one, _finding in found} == {check} | others, found


def test_what_is_well_has_no_finding_to_mend(world: World) -> None:
    assert world.bad() == []


def test_a_certificate_of_another_domain_is_found(world: World) -> None:
    world.monkeypatch.setenv("BASE_URL", "https://127.0.0.1")
    assert {"TLS", "proxy", "streams"} <= {name for name, _finding in world.bad()}


def test_an_authority_that_browsers_do_not_know_is_found(world: World) -> None:
    world.changes["authorities"] = None
    assert {name for name, _finding in world.bad()} == {"TLS", "proxy", "streams"}


@pytest.mark.processes
def test_a_clock_that_nothing_sets_is_a_warning(world: World) -> None:
    program = world.folder / "timedatectl"
    program.write_text("#!/bin/sh\necho no\n")
    program.chmod(0o755)
    world.monkeypatch.setenv("PATH", f"{world.folder}{os.pathsep}/bin")
    ((name, finding),) = world.bad()
    assert (name, finding.kind, finding.remedy) == ("clock", "warning", "timedatectl set-ntp true")
