"""`make run`: starts PostgreSQL, migrates, creates the demo and runs the server; stops them in reverse order."""

import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import psycopg
from django.core.exceptions import ImproperlyConfigured

from config import env, fingerprints, secrets
from config.database.deployment import session_parameters
from config.metrics import files
from config.probes import draining
from config.runtime import banner, bind_address, granian, postgres_binaries, processes
from config.runtime.postgres import Cluster, embedded
from config.runtime.postgres_binaries import PostgresError
from config.runtime.scheduler import scheduled_commands
from config.runtime.supervisor import supervised

# After SIGTERM, where no DRAIN_SECONDS is set and BASE_URL is https.
DRAIN_SECONDS = 5
BASE_DIR = Path(__file__).resolve().parents[2]


class CannotRun(Exception):
    """A problem that the user can solve. The text describes how."""


class InUse(CannotRun):
    """The service, or a command that needs it stopped, runs with this data folder."""


def main(name: str = "make run") -> None:
    """`name` is that of the command, for messages."""
    # Like Ctrl-C, an exception that runs every `finally`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        run()
    except (CannotRun, PostgresError, ImproperlyConfigured, psycopg.OperationalError) as error:
        sys.exit(f"{name}: {error}")
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
        draining.end(data)
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
        banner.print_when_open([port, *([stream_port] if stream_port else [])], data)
        endings = [running.enter_context(scheduled_commands())]
        endings += [running.enter_context(supervised(*program)) for program in programs_beside(stream_port)]

        def stopping() -> None:
            # All at once, so that they end while the workers do.
            for terminate in endings:
                terminate()

        granian.serve(port, drain_seconds=drain_seconds(), draining=lambda: draining.begin(data), stopping=stopping)


def programs_beside(stream_port: int | None) -> Iterator[tuple[str, ...]]:
    if env.flag("WEBHOOKS", default=False):
        yield ("manage.py", "deliver_webhooks")
    if env.text("EMAIL_URL"):
        yield ("manage.py", "deliver_mails")
    if stream_port:
        yield ("-m", "config.runtime.streams")


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

    from config.metrics.exposition import registry

    if port:
        server, _thread = start_http_server(port, str(bind_address.metrics_host()), registry())
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
    else:
        yield


@contextmanager
def sole_use(data: Path) -> Iterator[None]:
    """Lock the data folder. The lock ends with the process, also if it is killed."""
    check_owner(data)
    try:
        data.mkdir(parents=True, exist_ok=True)
        file = (data / "lock").open("w")
    except OSError as error:
        raise CannotRun(
            f"{data} cannot be written ({error.strerror}); choose another folder: DATA_DIR=… make run"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InUse(
                f"another `make run`, or a command such as `backup`, uses {data}; stop it, or choose another folder: "
                "DATA_DIR=… make run"
            ) from error
        yield


def check_owner(data: Path) -> None:
    """Raises CannotRun if root would take the data of another user, who could not use it any more."""
    if os.geteuid() != 0:
        return
    found = next((path for path in (data / "postgres", data / "secrets.json", data) if path.exists()), None)
    if found and (owner := postgres_binaries.name_of_owner(found)) not in ("root", postgres_binaries.SYSTEM_USER):
        raise CannotRun(f"{found} belongs to {owner}, and would belong to another user then: run this as {owner}.")


def check_archive(cluster: Cluster) -> None:
    """Raises CannotRun if the archive of the log would get a hole."""
    if cluster.has_archived() and "archive_command" not in cluster.settings:
        raise CannotRun(
            "the service archives the log of PostgreSQL, and the environment of this command has no WAL_ARCHIVE: "
            "set it to that of the service, or start the service once without it"
        )


def check_ports(port: int, stream_port: int | None, metrics_port: int | None = None) -> None:
    """Each port is free, and no two are the same."""
    used: dict[int, str] = {}
    for variable, number in (("PORT", port), ("STREAM_PORT", stream_port), ("METRICS_PORT", metrics_port)):
        if number is None:
            continue
        if number in used:
            other = used[number]
            raise CannotRun(f"{other} and {variable} are both {number}; choose another: {advice(number, variable)}")
        check_port(number, variable)
        used[number] = variable


def check_port(port: int, variable: str) -> None:
    address = bind_address.metrics_host() if variable == "METRICS_PORT" else bind_address.host()
    try:
        granian.check_free(port, address)
    except OSError as error:
        raise CannotRun(
            f"port {port} cannot be used ({error.strerror}); choose another: {advice(port, variable)}"
        ) from error


def advice(port: int, variable: str) -> str:
    return f"{variable}={bind_address.port_beside(port)} make run"


def check_secrets(data: Path, *, debug: bool) -> None:
    with psycopg.connect(**session_parameters(embedded(data).url)) as connection:
        fingerprints.check(connection.cursor(), data=data, debug=debug)


@contextmanager
def embedded_postgres(data: Path) -> Iterator[None]:
    """With sole use of the data folder: it also stops a server that it has found running.

    One with other settings is restarted: it would not archive its log.
    """
    cluster = embedded(data)
    try:
        if cluster.is_running() and not cluster.has_settings():
            cluster.stop()
        cluster.start()
        yield
    finally:
        cluster.stop()


@contextmanager
def postgres_of_command(data: Path, *, is_locked: bool = False) -> Iterator[None]:
    """The server that runs, or one for the block; `is_locked`: the caller has sole use of the data folder.

    Without the lock, a service that starts meanwhile would use the server that the command stops.
    """
    if embedded(data).is_running():
        yield
        return
    with nullcontext() if is_locked else sole_use(data):
        check_archive(embedded(data))
        with embedded_postgres(data):
            yield


def manage(command: str) -> None:
    arguments = [sys.executable, str(BASE_DIR / "manage.py"), command]
    if processes.run(arguments, ended_by=signal.SIGTERM, cwd=BASE_DIR):
        raise CannotRun(f"`manage.py {command}` failed; see its output above")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
