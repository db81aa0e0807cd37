"""Who may use the data folder, and its PostgreSQL: one service, or one command that needs it stopped."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from runtime import postgres_binaries
from runtime.postgres import embedded


class CannotRun(Exception):
    """A problem that the user can solve. The text describes how."""


class InUse(CannotRun):
    """The service, or a command that needs it stopped, runs with this data folder."""


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


@contextmanager
def embedded_postgres(data: Path) -> Iterator[None]:
    """With sole use of the data folder: it also stops a server that it has found running."""
    cluster = embedded(data)
    try:
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
    with nullcontext() if is_locked else sole_use(data), embedded_postgres(data):
        yield
