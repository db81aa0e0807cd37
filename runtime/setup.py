"""`community-messaging setup`: writes the settings of a service on one machine, and prepares its database.

Safe to repeat: what the file has stays, unless an option replaces it, and secrets are never replaced.
"""

from __future__ import annotations

import getpass
import os
import secrets as randomness
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import derived, env, secrets
from runtime import environment_file
from runtime.data_folder import CannotRun

BASE_DIR = Path(__file__).resolve().parents[1]
ROLE = "community"
# The role and its database, unless they exist; the password is that of the file.
CREATE = """
SELECT 'CREATE ROLE {role} LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') \\gexec
ALTER ROLE {role} PASSWORD '{password}';
SELECT 'CREATE DATABASE {role} OWNER {role}'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{role}') \\gexec
"""


def main(arguments: Sequence[str]) -> None:
    options = _parsed(arguments)
    try:
        set_up(options)
    except (CannotRun, ImproperlyConfigured) as error:
        sys.exit(f"community-messaging setup: {error}.".replace("..", "."))
    except (EOFError, KeyboardInterrupt):
        sys.exit("\ncommunity-messaging setup: stopped; run it again, it goes on with what is missing.")


def _parsed(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser("community-messaging setup", description=__doc__)
    parser.add_argument("--domain", help="the host name of the service, such as community.example.com")
    parser.add_argument("--database", help="the address of PostgreSQL; by default a database of this machine is made")
    parser.add_argument(
        "--mail", help="the mail server, such as smtp+tls://user:password@mail.example.com:587; '' for none"
    )
    parser.add_argument("--mail-from", help="the sender of mails (default: no-reply@DOMAIN)")
    parser.add_argument("--admin", help="the handle of the first super admin; '' for none")
    parser.add_argument(
        "--password-file", type=Path, help="has the super admin's password, which is asked for otherwise"
    )
    parser.add_argument("--env-file", type=Path, default=environment_file.DEFAULT, help="default: %(default)s")
    return parser.parse_args(arguments)


def set_up(options: Namespace) -> None:
    path: Path = options.env_file
    old = environment_file.read(path) if path.exists() else {}
    values = settings_of(options, old)
    environment_file.write(path, values)
    changed = [name for name in values if values[name] != old.get(name)]
    _say(f"{path} (only its owner can read it): {', '.join(changed) if changed else 'nothing changed'}")
    database = options.database or old.get("DATABASE_URL")
    if not database:
        _create_database(values["DATABASE_URL"])
        _say(f"PostgreSQL of this machine: role and database {ROLE}")
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | values | {"DATA_DIR": folder}
        _manage(environment, "prepare")
        _say("Database: tables of this release")
        if admin := _answer(options.admin, "Handle of the first super admin (empty for none)", lambda: ""):
            password = options.password_file.read_text().strip() if options.password_file else _new_password(admin)
            _manage(environment, "create_person", admin, "--super-admin", "--password", "-", entered=password)
            _say(f"Super admin: {admin}, who signs in at {values['BASE_URL']}/admin/")
    _say("Next: start the service, then `community-messaging doctor`")


def settings_of(options: Namespace, old: Mapping[str, str]) -> dict[str, str]:
    """The whole content of the file. Raises ImproperlyConfigured for a domain or a mail server that is none."""
    known = old.get("BASE_URL", "").removeprefix("https://")
    domain = _answer(options.domain, "Domain of the service", lambda: known)
    os.environ["BASE_URL"] = f"https://{domain}"
    base_url = env.origin("BASE_URL", "")
    mail = _answer(options.mail, "Mail server (empty for none)", lambda: old.get("EMAIL_URL", ""))
    if mail:
        derived.mail_settings(mail)
    sender = options.mail_from or old.get("DEFAULT_FROM_EMAIL") or f"Community Messaging <no-reply@{domain}>"
    given = {
        "BASE_URL": base_url,
        "DATABASE_URL": options.database or old.get("DATABASE_URL") or _new_database_url(),
        "EMAIL_URL": mail,
        "DEFAULT_FROM_EMAIL": sender,
    }
    made = {name: old.get(name) or secrets.new() for name in secrets.NAMES}
    defaults = {"TRUSTED_PROXIES": "127.0.0.1,::1", "DEMO": "0"}
    return defaults | dict(old) | given | made


def _new_database_url() -> str:
    return f"postgresql://{ROLE}:{randomness.token_urlsafe(24)}@127.0.0.1:5432/{ROLE}"


def _create_database(url: str) -> None:
    password = url.partition("@")[0].rpartition(":")[2]
    psql = ["runuser", "-u", "postgres", "--", "psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1"]
    try:
        done = subprocess.run(
            psql,
            input=CREATE.format(role=ROLE, password=password),
            text=True,
            capture_output=True,
            cwd="/",
            check=False,
        )
    except OSError as error:
        raise CannotRun("there is no psql here: apt-get install postgresql, or give --database") from error
    if done.returncode:
        raise CannotRun(f"PostgreSQL of this machine refuses: {done.stderr.strip()} (start it, or give --database)")


def _manage(environment: Mapping[str, str], *arguments: str, entered: str = "") -> None:
    command = [sys.executable, str(BASE_DIR / "manage.py"), *arguments]
    done = subprocess.run(
        command, env=environment, cwd=BASE_DIR, input=f"{entered}\n", text=True, capture_output=True, check=False
    )
    if done.returncode:
        raise CannotRun(f"`manage {arguments[0]}` failed: {done.stderr.strip()}")


def _answer(given: str | None, question: str, default: Callable[[], str]) -> str:
    """The option, or what is entered. Without a terminal, an option that is missing has its default."""
    if given is not None or not sys.stdin.isatty():
        return default() if given is None else given
    suggested = default()
    return input(f"{question}{f' [{suggested}]' if suggested else ''}: ").strip() or suggested


def _new_password(handle: str) -> str:
    """Asked for twice. Without a terminal it is the first line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    while True:
        password = getpass.getpass(f"Password of {handle}: ")
        if password and password == getpass.getpass("The same again: "):
            return password
        _say("They differ, or are empty.")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
