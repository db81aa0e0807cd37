"""`make run`: starts PostgreSQL, migrates, creates the demo and runs the server; stops them in reverse order.

The text that `make run` prints when the service is ready.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured

from config import env, secrets
from kernel import fingerprints
from kernel.database.deployment import session_parameters
from kernel.database.sql import full_disk
from kernel.metrics import files
from kernel.probes import readiness
from runtime import bind_address, granian, processes
from runtime.data_folder import CannotRun, embedded_postgres, sole_use
from runtime.postgres import embedded
from runtime.postgres_binaries import PostgresError
from runtime.supervisor import supervised

SUPER_ADMIN = "SELECT EXISTS (SELECT FROM messaging_account WHERE is_superuser AND is_active)"


def print_when_open(ports: Sequence[int], data: Path) -> None:
    """Print when all ports are open; the first is that of the workers."""
    threading.Thread(target=_wait_and_print, args=(ports, data), daemon=True).start()


def missing(data: Path) -> list[str]:
    """What a service needs that is not there, with the command or the setting that gives it."""
    found = []
    try:
        with psycopg.connect(**session_parameters(embedded(data).url)) as connection:
            has_super_admin = connection.execute(SUPER_ADMIN).fetchone() == (True,)
    except psycopg.Error:
        # The database has gone since the start, of which readiness and the log tell.
        has_super_admin = True
    if not has_super_admin:
        found.append("no super admin: manage.py create_person HANDLE --super-admin --password -")
    if not env.text("EMAIL_URL") and env.text("BASE_URL").startswith("https://"):
        found.append("no mail server, so that nobody can set a new password: EMAIL_URL")
    return found


def text(ports: Sequence[int], demo: dict[str, Any] | None, lacks: Sequence[str] = ()) -> str:
    """`ports`: that of the workers, and that of the streams if they are served. `lacks`: what is missing."""
    base, *streams = map(bind_address.origin, ports)
    public = env.origin("BASE_URL", base)
    lines = [
        "",
        f"Community Messaging runs at {base}  (Ctrl-C stops it)",
        *([f"Its public address is {public}"] if public != base else []),
        "",
        f"  {base}/           overview",
        *([f"  {base}/demo/      a page with a live embed"] if demo else []),
        f"  {base}/account/   for site owners, operators of agents and everybody with an account",
        f"  {base}/api/docs/  every operation, to try out",
        f"  {base}/admin/     for super admins",
        *(f"  {stream}/v1/changes/stream  posts and reactions as they happen (curl -N)" for stream in streams),
    ]
    lines += ["", "Missing:", *(f"  {one}" for one in lacks)] if lacks else []
    lines += (
        _demo_lines(demo)
        if demo
        else ["", "Log lines are printed here; with systemd: journalctl -u community-messaging"]
    )
    return "\n".join([*lines, ""])


def _demo_lines(demo: dict[str, Any]) -> list[str]:
    accounts = [f"  {name}: {demo[name]['handle']} / {demo[name]['password']}" for name in ("admin", "person")]
    post = "Post as the demo agent (a repeat with the same key returns the same response, and posts nothing):"
    return ["", "Sign in (demo):", *accounts, "", post, "", demo["curl"]]


def _wait_and_print(ports: Sequence[int], data: Path) -> None:
    while not all(map(_is_open, ports)):
        time.sleep(0.05)
    demo = _demo(data)
    sys.stdout.write(text(ports, demo, [] if demo else missing(data)) + "\n")
    sys.stdout.flush()


def _is_open(port: int) -> bool:
    """A worker opens the port after it has loaded the application."""
    with socket.socket(bind_address.family(bind_address.host()), socket.SOCK_STREAM) as probe:
        return probe.connect_ex((str(bind_address.host()), port)) == 0


def _demo(data: Path) -> dict[str, Any] | None:
    file = data / "demo.json"
    if not env.flag("DEMO", default=True):
        return None
    return json.loads(file.read_text()) if file.exists() else None


# After SIGTERM, where no DRAIN_SECONDS is set and BASE_URL is https.
DRAIN_SECONDS = 5
# How many ports are tried for one to advise.
ADVISED_MAX = 100
BASE_DIR = Path(__file__).resolve().parents[1]


def main(name: str = "make run") -> None:
    """`name` is that of the command, for messages."""
    # Like Ctrl-C, an exception that runs every `finally`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        run()
    except (CannotRun, PostgresError, ImproperlyConfigured, psycopg.OperationalError, OSError) as error:
        sentence = full_disk(error)
        if isinstance(error, OSError) and not sentence:
            raise
        sys.exit(f"{name}: {sentence or error}")
    except KeyboardInterrupt:
        sys.exit(130)


def run() -> None:
    data = env.folder("DATA_DIR", BASE_DIR / ".data")
    # For the programs that it starts, which run in another folder than this one may.
    os.environ["DATA_DIR"] = str(data)
    debug = env.flag("DEBUG", default=False)
    port = env.integer("PORT", granian.PORT, minimum=1, maximum=65535)
    with ExitStack() as running:
        running.enter_context(sole_use(data))
        readiness.end(data)
        stream_port = bind_address.stream_port(port) if env.flag("STREAMS", default=True) else None
        metrics_port = env.integer("METRICS_PORT", 0, maximum=65535)
        check_ports(port, stream_port, metrics_port or None)
        # Responses that release 1.0 shared among its workers.
        (data / "answers").unlink(missing_ok=True)
        secrets.make_once(data)
        secrets.require(data=data, debug=debug)
        if not env.text("DATABASE_URL"):
            running.enter_context(embedded_postgres(data))
        # Before the migrations, so that a host with other secrets changes nothing.
        check_secrets(data, debug=debug)
        manage("prepare")
        if metrics_port or env.networks("METRICS_ALLOWED"):
            running.enter_context(shared_metrics(data, metrics_port))
        print_when_open([port, *([stream_port] if stream_port else [])], data)
        endings = [running.enter_context(supervised(*program)) for program in programs_beside(stream_port)]

        def stopping() -> None:
            # All at once, so that they end while the workers do.
            for terminate in endings:
                terminate()

        granian.serve(port, drain_seconds=drain_seconds(), draining=lambda: readiness.begin(data), stopping=stopping)


def programs_beside(stream_port: int | None) -> Iterator[tuple[str, ...]]:
    if env.flag("WORKER", default=True):
        yield ("manage.py", "worker")
    if stream_port:
        yield ("-m", "runtime.streams")


def drain_seconds() -> int:
    """Behind a balancer, which BASE_URL shows, it takes some seconds to notice that this host is not ready."""
    default = DRAIN_SECONDS if env.text("BASE_URL").startswith("https://") else 0
    return env.integer("DRAIN_SECONDS", default)


@contextmanager
def shared_metrics(data: Path, port: int) -> Iterator[None]:
    """The processes share their metrics; this one returns them on a port of their own, if it is not 0."""
    folder = files.share(data)
    files.clear(folder)
    # Only now, when the folder is known.
    from prometheus_client import start_http_server

    from kernel.metrics.exposition import registry

    if port:
        server, _thread = start_http_server(port, str(bind_address.metrics_host()), registry())
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
    else:
        yield


def check_ports(port: int, stream_port: int | None, metrics_port: int | None = None) -> None:
    """Each port is free, and no two are the same."""
    used: dict[int, str] = {}
    for variable, number in (("PORT", port), ("STREAM_PORT", stream_port), ("METRICS_PORT", metrics_port)):
        if number is None:
            continue
        if number in used:
            other = used[number]
            raise CannotRun(f"{other} and {variable} are both {number}; choose another: {advice(number, variable)}")
        check_port(number, variable, with_next=variable == "PORT" and stream_port == bind_address.port_beside(port))
        used[number] = variable


def check_port(port: int, variable: str, *, with_next: bool = False) -> None:
    try:
        granian.check_free(port, address_of(variable))
    except OSError as error:
        raise CannotRun(
            f"port {port} cannot be used ({error.strerror}); choose another: "
            f"{advice(port, variable, with_next=with_next)}"
        ) from error


def address_of(variable: str) -> IPv4Address | IPv6Address:
    return bind_address.metrics_host() if variable == "METRICS_PORT" else bind_address.host()


def advice(port: int, variable: str, *, with_next: bool = False) -> str:
    """What to start instead. `with_next`: the port of streams follows, and has to be free too."""
    above = range(port + 1, min(port + ADVISED_MAX, bind_address.PORT_MAX))
    free = (number for number in above if all(is_free(n, variable) for n in (number, number + with_next)))
    return f"{variable}={next(free, bind_address.port_beside(port))} make run"


def is_free(port: int, variable: str) -> bool:
    try:
        granian.check_free(port, address_of(variable))
    except OSError:
        return False
    return True


def check_secrets(data: Path, *, debug: bool) -> None:
    with psycopg.connect(**session_parameters(embedded(data).url)) as connection:
        fingerprints.check(connection.cursor(), data=data, debug=debug)


def manage(command: str) -> None:
    arguments = [sys.executable, str(BASE_DIR / "manage.py"), command]
    if processes.run(arguments, ended_by=signal.SIGTERM, cwd=BASE_DIR):
        raise CannotRun(f"`manage.py {command}` failed; see its output above")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
