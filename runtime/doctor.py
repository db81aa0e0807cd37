"""`community-messaging doctor`: checks a service on this machine from the outside in; a line each, with the remedy.

A further check is a function in `CHECKS`. It yields findings; what it raises of `PROBLEMS` is a finding too.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import smtplib
import socket
import ssl
import stat
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from runtime import environment_file
from runtime.data_folder import CannotRun

UNIT_DATA = Path("/var/lib/community-messaging")
TIMEOUT_SECONDS = 8
CLOCK_SECONDS = 5
HOUR, DAY = 3600, 86400
# Caddy and certbot renew a certificate when a third of its time is left.
RENEWED_LATEST = 0.2
# The timers run once a day and once a month; deploy/prometheus/alerts.yml has the same limits.
BACKUP_SECONDS, DRILL_SECONDS = 26 * HOUR, 40 * DAY
MARKS = {"good": "ok  ", "warning": "look", "bad": "BAD "}
PROBLEMS = (OSError, http.client.HTTPException, ValueError, KeyError, smtplib.SMTPException)


@dataclass(frozen=True, slots=True)
class Finding:
    """`remedy` says what to do where the kind is not good."""

    kind: str
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Doctor:
    """What the checks need. `address` is reached in place of the domain; `authorities` are trusted, no others."""

    env_file: Path
    address: tuple[str, int] | None = None
    plain_port: int = 80
    authorities: Path | None = None

    @property
    def domain(self) -> str:
        return urlsplit(os.environ["BASE_URL"]).hostname or ""

    def secure(self) -> http.client.HTTPSConnection:
        """A connection to the domain, as browsers have one."""
        context = ssl.create_default_context(cafile=str(self.authorities) if self.authorities else None)
        connection = http.client.HTTPSConnection(self.domain, timeout=TIMEOUT_SECONDS, context=context)
        target = self.address or (self.domain, urlsplit(os.environ["BASE_URL"]).port or 443)
        plain = socket.create_connection(target, TIMEOUT_SECONDS)
        connection.sock = context.wrap_socket(plain, server_hostname=self.domain)
        return connection

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        connection = self.secure()
        connection.request("GET", path, headers=headers)
        return connection.getresponse()


def file(doctor: Doctor) -> Iterator[Finding]:
    mode = stat.S_IMODE(doctor.env_file.stat().st_mode)
    if mode & 0o077:
        yield Finding("bad", f"{doctor.env_file} can be read by others", f"chmod 600 {doctor.env_file}")
    else:
        yield Finding("good", f"{doctor.env_file} is read by its owner only")


def configuration(doctor: Doctor) -> Iterator[Finding]:
    from django.conf import settings

    if not settings.HTTPS:
        yield Finding("bad", "BASE_URL is not https", "set BASE_URL=https://DOMAIN and restart the service")
    if not settings.TRUSTED_PROXIES:
        yield Finding("bad", "no proxy is trusted: all readers count as one", "set TRUSTED_PROXIES=127.0.0.1,::1")
    if settings.DEMO:
        yield Finding("warning", "the demo is filled at a start", "set DEMO=0")
    if os.environ.get("HOST", "127.0.0.1") not in ("127.0.0.1", "::1"):
        yield Finding("warning", "the service listens on more than this machine", "remove HOST, or close its ports")
    yield Finding("good", "the settings can be read")


def secrets(doctor: Doctor) -> Iterator[Finding]:
    from django.conf import settings
    from django.db import connection

    from kernel import fingerprints

    with connection.cursor() as cursor:
        cursor.execute(fingerprints.STORED)
        stored = {name: bytes(value) for name, value in cursor.fetchall()}
    wrong = fingerprints.unknown(stored, data=settings.DATA_DIR, debug=settings.DEBUG)
    if wrong:
        yield Finding(
            "bad", f"not those of this database: {', '.join(wrong)}", "restore them (SECURITY.md, Lost secrets)"
        )
    else:
        yield Finding("good", "the secrets are those of the database")


REMEDIES = {
    "database": "systemctl status postgresql; check DATABASE_URL",
    "redis": "systemctl status redis-server; check REDIS_URL",
    "streams": "systemctl restart community-messaging; journalctl -u community-messaging",
    "migrations": "systemctl restart community-messaging, which applies them",
    "housekeeping": "systemctl restart community-messaging; see HOUSEKEEPING_MINUTES",
    "mails": "check EMAIL_URL and DEFAULT_FROM_EMAIL with your mail provider",
    "disk": "free some space, or enlarge the disk of DATA_DIR",
}


def health(doctor: Doctor) -> Iterator[Finding]:
    """What the overview of the admin shows."""
    from desk.health import checks

    for check in checks():
        if check.trouble:
            yield Finding("bad", check.trouble, REMEDIES.get(check.name.split()[0], "see the overview of the admin"))
        elif check.is_checked:
            yield Finding("good", f"{check.label}: {check.state}")


def super_admin(doctor: Doctor) -> Iterator[Finding]:
    from messaging.models import Account

    if Account.objects.filter(is_superuser=True, is_active=True).exists():
        yield Finding("good", "there is a super admin")
    else:
        yield Finding("bad", "there is no super admin", "community-messaging setup --admin HANDLE")


def service(doctor: Doctor) -> Iterator[Finding]:
    """The service itself, without its proxy."""
    from django.conf import settings

    from config.version import VERSION

    client = http.client.HTTPConnection(settings.LOCAL_HOST, settings.PORT, timeout=TIMEOUT_SECONDS)
    remedy = "systemctl restart community-messaging; journalctl -u community-messaging"
    try:
        client.request("GET", "/readyz")
        state = json.loads(client.getresponse().read())
        headers = {"Host": doctor.domain, "X-Forwarded-Proto": "https", "Accept": "application/json"}
        client.request("GET", "/", headers=headers)
        version = json.loads(client.getresponse().read())["version"]
    except PROBLEMS as error:
        yield Finding("bad", f"port {settings.PORT} does not answer as this service ({error})", remedy)
        return
    if not state["ready"]:
        yield Finding("bad", f"it is not ready: {', '.join(state['missing']) or 'it drains'}", remedy)
    elif version != VERSION:
        yield Finding("bad", f"{version} runs, and {VERSION} is installed", "systemctl restart community-messaging")
    else:
        yield Finding("good", f"release {version} answers on port {settings.PORT}")


def names(doctor: Doctor) -> Iterator[Finding]:
    found = sorted({str(entry[4][0]) for entry in socket.getaddrinfo(doctor.domain, 443, type=socket.SOCK_STREAM)})
    yield Finding("good", f"{doctor.domain} is {', '.join(found)}")


def certificate(doctor: Doctor) -> Iterator[Finding]:
    connection = doctor.secure()
    found = connection.sock.getpeercert() or {}
    connection.close()
    begins, ends = (ssl.cert_time_to_seconds(str(found[name])) for name in ("notBefore", "notAfter"))
    left = ends - time.time()
    if left < (ends - begins) * RENEWED_LATEST:
        yield Finding("bad", f"the certificate ends in {_period(left)}", "see the log of Caddy, or run certbot renew")
    else:
        yield Finding("good", f"the certificate is valid for {_period(left)}")


def _period(seconds: float) -> str:
    return f"{seconds / DAY:.0f} days" if seconds > 2 * DAY else f"{seconds / HOUR:.0f} hours"


def redirect(doctor: Doctor) -> Iterator[Finding]:
    host = doctor.address[0] if doctor.address else doctor.domain
    client = http.client.HTTPConnection(host, doctor.plain_port, timeout=TIMEOUT_SECONDS)
    client.request("GET", "/", headers={"Host": doctor.domain})
    location = client.getresponse().headers.get("Location", "")
    if location.startswith(f"https://{doctor.domain}"):
        yield Finding("good", "http leads to https")
    else:
        yield Finding("bad", "http does not lead to https", "let the proxy redirect port 80 (deploy/Caddyfile)")


def proxy(doctor: Doctor) -> Iterator[Finding]:
    answer = doctor.get("/", Accept="application/json")
    if answer.status in (301, 302, 307, 308):
        yield Finding("bad", "https leads to itself", "let the proxy send X-Forwarded-Proto: https")
    elif answer.status == 400:
        yield Finding("bad", "the service does not know the Host", "let the proxy pass Host; check ALLOWED_HOSTS")
    elif answer.status != 200:
        yield Finding("bad", f"the proxy answers {answer.status}", "check its address of the service (127.0.0.1:8000)")
    elif not answer.headers.get("Strict-Transport-Security"):
        yield Finding(
            "bad", "the header Strict-Transport-Security is missing", "let the proxy pass headers as they are"
        )
    else:
        yield Finding("good", "the proxy passes requests and headers")


def streams(doctor: Doctor) -> Iterator[Finding]:
    from django.conf import settings

    if not settings.STREAMS:
        return
    answer = doctor.get("/v1/changes/stream", Accept="text/event-stream")
    remedy = "let the proxy pass /v1/changes/stream to port 8001 without buffering (deploy/Caddyfile)"
    if answer.status != 200 or "text/event-stream" not in answer.headers.get("Content-Type", ""):
        yield Finding("bad", f"no stream through the proxy (status {answer.status})", remedy)
        return
    try:
        answer.read1(64)
    except TimeoutError:
        yield Finding("bad", "the proxy holds streams back", remedy)
    else:
        yield Finding("good", "streams arrive through the proxy")


def mail(doctor: Doctor) -> Iterator[Finding]:
    from django.conf import settings
    from django.core.mail import get_connection

    if not settings.MAIL_IS_SENT:
        yield Finding("warning", "no mails are sent: nobody can set a new password", "set EMAIL_URL")
        return
    if settings.DEFAULT_FROM_EMAIL.rstrip(">").endswith("@localhost"):
        yield Finding("bad", "the sender of mails is at localhost", "set DEFAULT_FROM_EMAIL")
    connection = get_connection()
    try:
        connection.open()
    except PROBLEMS as error:
        yield Finding(
            "bad", f"the mail server refuses ({error})", "check EMAIL_URL, and that port 587 is open outwards"
        )
    else:
        yield Finding("good", "the mail server lets the service in")
    finally:
        connection.close()


def clock(doctor: Doctor) -> Iterator[Finding]:
    """Beside the clock of PostgreSQL, and whether this one is set by others."""
    from kernel.database.sql import database_now

    remedy = "timedatectl set-ntp true"
    difference = abs(database_now().timestamp() - time.time())
    if difference > CLOCK_SECONDS:
        yield Finding("bad", f"this clock and that of PostgreSQL differ by {difference:.0f} s", remedy)
    if shutil.which("timedatectl"):
        command = ["timedatectl", "show", "--property=NTPSynchronized", "--value"]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        if said == "no":
            yield Finding("warning", "nothing sets this clock", remedy)
    if difference <= CLOCK_SECONDS:
        yield Finding("good", "the clock agrees with that of PostgreSQL")


def backups(doctor: Doctor) -> Iterator[Finding]:
    """What the units of barman report. A dump by cron reports nothing, so that its age is not known here."""
    from kernel.metrics import backup_report

    file = os.environ.get("BACKUP_REPORT", "")
    if not file:
        yield Finding("warning", "the age of backups is not known", "set BACKUP_REPORT (docs/operations.md, Backup)")
        return
    report = backup_report.read(file)
    if report is None:
        yield Finding("bad", f"{file} cannot be read", "systemctl start community-messaging-backup")
        return
    for problem in report.get("problems", ()):
        yield Finding("bad", f"barman: {problem}", "sudo -u barman barman check community-messaging")
    if error := (report.get("drill") or {}).get("error"):
        yield Finding(
            "bad", f"the last restore drill failed: {error}", "systemctl start community-messaging-restore-drill"
        )
    times = backup_report.successes()
    for name, label, kind, limit, unit in (
        ("backup", "backup", "bad", BACKUP_SECONDS, "backup"),
        ("restore_drill", "restore drill", "warning", DRILL_SECONDS, "restore-drill"),
    ):
        age = time.time() - times[name]
        text = f"the last good {label} is {_period(age)} old" if times[name] else f"there is no good {label} yet"
        if age > limit:
            yield Finding(
                kind, text, f"systemctl start community-messaging-{unit}; journalctl -u community-messaging-{unit}"
            )
        else:
            yield Finding("good", text)


CHECKS: tuple[tuple[str, Callable[[Doctor], Iterator[Finding]], str], ...] = (
    ("file", file, "community-messaging setup"),
    ("settings", configuration, "correct the line of the file that it names"),
    ("secrets", secrets, "systemctl status postgresql; check DATABASE_URL"),
    ("health", health, "systemctl status postgresql; check DATABASE_URL"),
    ("admin", super_admin, "systemctl status postgresql; check DATABASE_URL"),
    ("service", service, "systemctl restart community-messaging"),
    ("clock", clock, "systemctl status postgresql; check DATABASE_URL"),
    ("DNS", names, "make an A (and AAAA) record of the domain with the address of this machine"),
    ("TLS", certificate, "start the proxy and open ports 80 and 443; see the log of Caddy, or run certbot renew"),
    ("http", redirect, "start the proxy, and open port 80"),
    ("proxy", proxy, "start the proxy (systemctl status caddy)"),
    ("streams", streams, "start the proxy (systemctl status caddy)"),
    ("mail", mail, "check EMAIL_URL"),
    ("backups", backups, "systemctl start community-messaging-backup"),
)


def examine(doctor: Doctor) -> Iterator[tuple[str, Finding]]:
    """The findings of all checks. What comes after settings that cannot be read is not asked for."""
    import django
    from django.db import Error

    for name, check, remedy in CHECKS:
        try:
            if name == "settings":
                django.setup()
            for finding in check(doctor):
                yield name, finding
        except ImproperlyConfigured as error:
            yield name, Finding("bad", str(error), remedy)
            return
        except (*PROBLEMS, Error) as error:
            yield name, Finding("bad", str(error).strip().partition("\n")[0] or type(error).__name__, remedy)


def main(arguments: Sequence[str]) -> None:
    options = _parsed(arguments)
    try:
        environment_file.apply(options.env_file)
    except CannotRun as error:
        sys.exit(f"BAD   file: {error}. Remedy: run this as root, or community-messaging setup")
    if UNIT_DATA.exists():
        # The unit sets it, and not the file.
        os.environ["DATA_DIR"] = str(UNIT_DATA)
    os.environ["STATEMENT_TIMEOUT"] = str(TIMEOUT_SECONDS * 1000)
    host, _colon, port = (options.address or "").rpartition(":")
    address = (host, int(port)) if host else None
    doctor = Doctor(options.env_file, address, options.plain_port, options.authorities)
    found = list(examine(doctor))
    bad = sum(finding.kind == "bad" for _name, finding in found)
    if options.json:
        rows: list[dict[str, Any]] = [
            {"check": name, "kind": one.kind, "text": one.text, "remedy": one.remedy} for name, one in found
        ]
        sys.stdout.write(json.dumps({"bad": bad, "findings": rows}) + "\n")
    else:
        for name, one in found:
            remedy = f". Remedy: {one.remedy}" if one.remedy else ""
            sys.stdout.write(f"{MARKS[one.kind]}  {name}: {one.text}{remedy}\n")
        sys.stdout.write(f"\n{f'{bad} found' if bad else 'Everything that was checked is well'}.\n")
    sys.exit(1 if bad else 0)


def _parsed(arguments: Sequence[str]) -> Any:
    parser = ArgumentParser("community-messaging doctor", description=__doc__)
    parser.add_argument("--env-file", type=Path, default=environment_file.DEFAULT, help="default: %(default)s")
    parser.add_argument("--address", metavar="HOST:PORT", help="where to reach the domain, instead of asking DNS")
    parser.add_argument("--plain-port", type=int, default=80, help="the port of http (default: 80)")
    parser.add_argument("--authorities", type=Path, help="certificates of a local authority, as one PEM file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main(sys.argv[1:])
